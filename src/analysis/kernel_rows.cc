#include "src/analysis/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/analysis/display_names.h"
#include "src/analysis/group_by.h"
#include "src/analysis/module_path.h"
#include "src/base/format_number.h"
#include "src/kernel_names/short_name.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kNoOp = "[no op]";
constexpr std::string_view kUnattributed = "[unattributed]";
constexpr std::string_view kOutsidePasses = "[outside any pass]";
constexpr uint32_t kHead = GroupKey::kNone - 1;
constexpr uint32_t kTail = GroupKey::kNone - 2;
/// Layers of a draft model, whose numbers start at 0 again.
constexpr uint32_t kDraft = 1;
constexpr std::string_view kCopies = " (copies)";
constexpr std::string_view kCopyCategory = "copy";
constexpr size_t kOtherNames = 5;

uint32_t Index(size_t index, bool valid) {
  return valid ? static_cast<uint32_t>(index) : GroupKey::kNone;
}

/// The key of a row: dense ids of the trace, so that grouping never touches text.
class KeyOfRow {
 public:
  KeyOfRow(const RankView& view, KernelsBy by, Places places)
      : view_(view),
        attr_(view.attribution()),
        by_(by),
        has_places_(places == Places::kApart && (view.many_devices() || view.processes().many())) {}

  GroupKey operator()(uint32_t row) const {
    GroupKey key = has_places_ ? PlaceOf(view_, row) : GroupKey();
    switch (by_) {
      case KernelsBy::kName:
        key.first = Index(NameOf(row).index(), true);
        break;
      case KernelsBy::kOp:
        SetOp(row, key), SetCopies(row, key);
        break;
      case KernelsBy::kOpDims:
        SetOp(row, key), SetDims(row, key), SetCopies(row, key);
        break;
      case KernelsBy::kModule:
        SetModule(row, key);
        break;
      case KernelsBy::kLayer:
        SetLayer(row, key);
        break;
      case KernelsBy::kCategory:
        key.first = Index(attr_.category_of_name[NameOf(row).index()].index(), true);
        break;
      case KernelsBy::kStream:
        SetStream(row, key);
        break;
    }
    return key;
  }

 private:
  trace::StringId NameOf(uint32_t row) const { return view_.activities().name[row]; }
  void SetOp(uint32_t row, GroupKey& key) const {
    const trace::OpId op = attr_.op[row];
    if (op.valid()) key.first = Index(attr_.OpName(view_.trace(), op).index(), true);
  }
  void SetDims(uint32_t row, GroupKey& key) const {
    const trace::OpId op = attr_.op[row];
    if (!op.valid()) return;
    const trace::ArgsId args = attr_.OpArgs(view_.trace(), op);
    if (!args.valid()) return;
    const trace::StringId dims = view_.trace().args[args.index()].input_dims;
    key.second = Index(dims.index(), dims.valid());
  }
  /// The lengths of an op's memsets say nothing about its kernels.
  void SetCopies(uint32_t row, GroupKey& key) const { key.copies = view_.IsCopy(row); }
  void SetModule(uint32_t row, GroupKey& key) const {
    const attribution::ModuleId module = attr_.module[row];
    key.first = Index(module.index(), module.valid());
  }
  /// kNone, for what no pass holds, where layers are not known.
  void SetLayer(uint32_t row, GroupKey& key) const {
    const layers::LayerStructure* const structure = view_.input().layers;
    if (structure == nullptr || !structure->pass[row].valid()) return;
    const layers::LayerId layer = structure->layer[row];
    if (layer.valid()) {
      key.first = static_cast<uint32_t>(structure->layers[layer.index()].index);
    } else {
      key.first = structure->part[row] == layers::PassPart::kTail ? kTail : kHead;
    }
    const layers::Pass& pass = structure->passes[structure->pass[row].index()];
    if (pass.kind == layers::PassKind::kDraft) key.second = kDraft;
  }
  void SetStream(uint32_t row, GroupKey& key) const {
    const trace::StreamId stream = view_.activities().stream[row];
    const trace::ThreadId thread = attr_.thread[row];
    key.device = view_.DeviceOf(row);
    key.first = view_.cpu_only() ? Index(thread.index(), thread.valid())
                                 : Index(stream.index(), stream.valid());
  }

  const RankView& view_;
  const attribution::Attribution& attr_;
  KernelsBy by_;
  bool has_places_;
};

/// Gives a group its texts.
class RowNamer {
 public:
  RowNamer(const RankView& view, KernelsBy by) : view_(view), by_(by) {
    if (by == KernelsBy::kModule) paths_ = ModulePaths(view);
  }

  KernelRow operator()(const Group& group) {
    KernelRow row;
    row.group = group;
    row.place = PlaceOfRow(view_, group.first_row);
    switch (by_) {
      case KernelsBy::kName:
        NameKernel(row);
        break;
      case KernelsBy::kOp:
      case KernelsBy::kOpDims:
        NameOp(row);
        break;
      case KernelsBy::kModule:
        NameModule(row);
        break;
      case KernelsBy::kLayer:
        NameLayer(row);
        break;
      case KernelsBy::kCategory:
        row.key = view_.rules().category(kernel_names::CategoryId(group.key.first)).name;
        row.category = row.key;
        break;
      case KernelsBy::kStream:
        NameStream(row);
        break;
    }
    if (row.name.empty()) row.name = row.key;
    return row;
  }

 private:
  const trace::Trace& trace() const { return view_.trace(); }
  std::string_view Text(uint32_t string) const { return trace().strings[trace::StringId(string)]; }
  static bool Has(uint32_t id) { return id != GroupKey::kNone; }

  void NameKernel(KernelRow& row) const {
    const trace::StringId name(row.group.key.first);
    row.key = trace().strings[name];
    row.short_name = kernel_names::ShortName(row.key);
    const kernel_names::CategoryId category = view_.attribution().category_of_name[name.index()];
    row.category = view_.rules().category(category).name;
  }
  void NameOp(KernelRow& row) const {
    const GroupKey& key = row.group.key;
    row.op = Has(key.first) ? Text(key.first) : kNoOp;
    if (Has(key.second)) row.dims = Text(key.second);
    row.key = row.op + row.dims;
    row.name = row.op;
    if (!key.copies) return;
    row.key += kCopies;
    row.name += kCopies;
    row.category = kCopyCategory;
  }
  void NameModule(KernelRow& row) const {
    const GroupKey& key = row.group.key;
    row.key = Has(key.first) ? paths_[key.first] : std::string(kUnattributed);
    if (!Has(key.first)) return;
    row.name = trace().strings[view_.attribution().modules.modules[key.first].name];
  }
  static void NameLayer(KernelRow& row) {
    const GroupKey& key = row.group.key;
    const std::string draft = key.second == kDraft ? "draft " : "";
    if (!Has(key.first)) {
      row.key = kOutsidePasses;
    } else if (key.first == kHead || key.first == kTail) {
      row.key = fmt::format("[{}{}]", draft, key.first == kHead ? "head" : "tail");
    } else {
      row.key = fmt::format("{}{}", draft, key.first);
      row.name = fmt::format("{}layer {}", draft, key.first);
    }
  }
  void NameStream(KernelRow& row) const {
    const uint32_t id = row.group.key.first;
    if (!Has(id)) {
      row.key = "[no stream]";
    } else if (view_.cpu_only()) {
      const trace::Thread& thread = trace().threads[id];
      row.key = "thread " + trace().LabelText(thread.tid);
      row.name = thread.name.valid() ? std::string(trace().strings[thread.name]) : row.key;
    } else {
      row.key = trace().StreamText(trace::StreamId(id));
      row.name = "stream " + row.key;
    }
  }

  const RankView& view_;
  KernelsBy by_;
  std::vector<std::string> paths_;
};

/// An operator's name is shown whole, namespace and all, unless it is as long as those that
/// Inductor gives.
std::string ShortOpName(const std::string& name) {
  return name.size() <= kMaxWholeName ? name : kernel_names::ShortName(name);
}

/// Equal names on several devices, or of several processes, are one kernel.
void SetShownNames(bool are_ops, std::vector<KernelRow>& rows) {
  std::map<std::string_view, size_t> index;
  std::vector<std::string> names;
  std::vector<std::string> short_names;
  for (const KernelRow& row : rows) {
    if (!index.emplace(row.name, names.size()).second) continue;
    names.push_back(row.name);
    short_names.push_back(are_ops ? ShortOpName(row.name) : row.short_name);
  }
  const std::vector<std::string> shown = DistinctNames(names, short_names);
  for (KernelRow& row : rows) row.shown_name = shown[index.at(row.name)];
}

}  // namespace

const std::vector<std::string>& KernelsByNames() {
  static const std::vector<std::string> kNames = {"name",  "op",       "op-dims", "module",
                                                  "layer", "category", "stream"};
  return kNames;
}

std::vector<KernelRow> RankActivities(const RankView& view, KernelsBy by, Places places) {
  std::vector<Group> groups = GroupBy(view, KeyOfRow(view, by, places));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.sum_ns > b.sum_ns; });
  RowNamer namer(view, by);
  std::vector<KernelRow> rows;
  rows.reserve(groups.size());
  for (const Group& group : groups) rows.push_back(namer(group));
  if (NamesKernels(by)) SetShownNames(by != KernelsBy::kName || view.cpu_only(), rows);
  return rows;
}

bool NamesKernels(KernelsBy by) {
  return by == KernelsBy::kName || by == KernelsBy::kOp || by == KernelsBy::kOpDims;
}

void AddFused(const InductorKernels& kernels, KernelsBy by, std::vector<KernelRow>& rows) {
  if (!NamesKernels(by) || kernels.n_names() == 0) return;
  for (KernelRow& row : rows) {
    const uint32_t name = row.group.key.first;
    if (name != GroupKey::kNone) row.fused = kernels.Of(trace::StringId(name));
  }
}

std::vector<KernelRow> WithoutCategory(const RankView& view, std::vector<KernelRow> by_name) {
  const std::string& other = view.rules().category(view.rules().other()).name;
  std::erase_if(by_name, [&other](const KernelRow& row) { return row.category != other; });
  return by_name;
}

bool IsWholeGraph(const RankView& view, const KernelRow& row) {
  return view.activities().kind[row.group.first_row] == trace::ActivityKind::kGraph;
}

std::string OtherText(const RankView& view, const std::vector<KernelRow>& others) {
  int64_t other_ns = 0;
  int64_t graph_ns = 0;
  std::vector<std::string> names;
  for (const KernelRow& row : others) {
    other_ns += row.group.sum_ns;
    if (IsWholeGraph(view, row)) {
      graph_ns += row.group.sum_ns;
      continue;
    }
    if (names.size() == kOtherNames) continue;
    names.push_back(fmt::format("{} ({})", row.shown_name,
                                base::FormatShare(row.group.sum_ns, view.total_ns())));
  }
  if (graph_ns > 0) {
    names.insert(names.begin(), fmt::format("graphs that were recorded whole ({})",
                                            base::FormatShare(graph_ns, view.total_ns())));
  }
  if (names.empty()) return {};
  return fmt::format("{} {}: {}", view.rules().category(view.rules().other()).name,
                     base::FormatShare(other_ns, view.total_ns()), fmt::join(names, ", "));
}

}  // namespace layerscope::analysis
