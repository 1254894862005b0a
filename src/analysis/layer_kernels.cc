#include "src/analysis/layer_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/analysis/display_names.h"
#include "src/analysis/fused_columns.h"
#include "src/analysis/row_table.h"
#include "src/analysis/structure_text.h"
#include "src/kernel_names/short_name.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using table::Cell;

auto Text(std::string LayerKernel::*member) {
  return [member](const LayerKernel& row) { return table::TextCellOrNull(row.*member); };
}

std::string DimsOf(const RankView& view, uint32_t row) {
  const trace::OpId op = view.attribution().op[row];
  if (!op.valid()) return {};
  const trace::ArgsId args = view.attribution().OpArgs(view.trace(), op);
  if (!args.valid()) return {};
  const trace::StringId dims = view.trace().args[args.index()].input_dims;
  return dims.valid() ? std::string(view.trace().strings[dims]) : std::string();
}

/// Short and shown names, made once a name.
class NamesOfKernels {
 public:
  NamesOfKernels(const RankView& view, const std::vector<uint32_t>& rows) {
    std::vector<std::string> names;
    std::vector<std::string> short_names;
    for (const uint32_t row : rows) {
      const trace::StringId name = view.activities().name[row];
      if (!at_.emplace(name.index(), names.size()).second) continue;
      names.emplace_back(view.trace().strings[name]);
      short_names.push_back(kernel_names::ShortName(names.back()));
    }
    shown_ = DistinctNames(names, short_names);
    short_ = std::move(short_names);
  }
  void Set(trace::StringId name, LayerKernel& kernel) const {
    const size_t at = at_.at(name.index());
    kernel.short_name = short_[at];
    kernel.shown_name = shown_[at];
  }

 private:
  std::map<size_t, size_t> at_;
  std::vector<std::string> short_;
  std::vector<std::string> shown_;
};

/// What rows of one layer, head or tail have in common.
using PartKey = std::tuple<size_t, layers::PassPart, size_t>;

PartKey KeyOf(const LayerStructure& structure, uint32_t row) {
  const layers::LayerId layer = structure.layer[row];
  return {structure.pass[row].index(), structure.part[row], layer.valid() ? layer.index() : 0};
}

/// What names blocks.
struct BlockNames {
  const model::Profile* profile = nullptr;
  int64_t most = 0;
};

LayerKernel KernelOf(const RankView& view, const LayerStructure& structure,
                     const BlockNames& blocks, uint32_t row) {
  const trace::StringId name = view.activities().name[row];
  const kernel_names::Category& category =
      view.rules().category(view.attribution().category_of_name[name.index()]);
  LayerKernel kernel;
  kernel.row = row;
  kernel.name = view.trace().strings[name];
  kernel.category = category.name;
  kernel.group = category.group;
  kernel.dims = DimsOf(view, row);
  kernel.block = structure.block[row];
  kernel.block_name = BlockName(blocks.profile, blocks.most, kernel.block);
  kernel.pass = static_cast<int64_t>(structure.pass[row].index());
  if (const layers::LayerId layer = structure.layer[row]; layer.valid()) {
    kernel.layer = structure.layers[layer.index()].index;
  }
  kernel.start_ns = view.activities().start_ns[row];
  kernel.dur_ns = view.activities().dur_ns[row];
  kernel.place = PlaceOfRow(view, row);
  return kernel;
}

}  // namespace

std::vector<LayerKernel> BuildLayerKernels(const RankView& view, const LayerStructure& structure,
                                           const model::Profile* profile) {
  std::vector<uint32_t> rows;
  for (const uint32_t row : view.RowsByDeviceAndStart()) {
    if (structure.pass[row].valid()) rows.push_back(row);
  }
  const NamesOfKernels names(view, rows);
  const BlockNames blocks{profile, MostBlocks(structure)};
  struct PartState {
    int64_t start_ns = 0;
    int64_t n = 0;
  };
  std::map<PartKey, PartState> parts;
  std::vector<LayerKernel> kernels;
  kernels.reserve(rows.size());
  for (const uint32_t row : rows) {
    LayerKernel kernel = KernelOf(view, structure, blocks, row);
    names.Set(view.activities().name[row], kernel);
    PartState& part = parts[KeyOf(structure, row)];
    if (part.n == 0) part.start_ns = kernel.start_ns;
    kernel.index = ++part.n;
    kernel.ts_rel_ns = kernel.start_ns - part.start_ns;
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const LayerKernel& a, const LayerKernel& b) { return a.dur_ns > b.dur_ns; });
  return kernels;
}

void AddFused(const InductorKernels& inductor, std::vector<LayerKernel>& kernels) {
  std::vector<uint32_t> rows;
  rows.reserve(kernels.size());
  for (const LayerKernel& kernel : kernels) rows.push_back(kernel.row);
  std::vector<std::shared_ptr<const FusedFrom>> fused = inductor.OfRows(rows);
  for (size_t i = 0; i < kernels.size(); ++i) kernels[i].fused = std::move(fused[i]);
}

table::Table LayerKernelsForMachines(const RankView& view, std::vector<LayerKernel> rows) {
  RowTable<LayerKernel> table(std::move(rows));
  table.AddText({.name = "key"}, &LayerKernel::name)
      .AddText({.name = "name", .title = "kernel"}, &LayerKernel::name)
      .AddText({.name = "short_name"}, &LayerKernel::short_name)
      .AddText({.name = "category"}, &LayerKernel::category)
      .AddText({.name = "group"}, &LayerKernel::group)
      .Add({.name = "n"}, [](const LayerKernel& /*row*/) { return int64_t{1}; })
      .AddInt({.name = "sum_ns"}, &LayerKernel::dur_ns)
      .AddInt({.name = "min_ns"}, &LayerKernel::dur_ns)
      .AddInt({.name = "max_ns"}, &LayerKernel::dur_ns)
      .AddInt({.name = "pass"}, &LayerKernel::pass)
      .Add({.name = "layer"}, [](const LayerKernel& row) { return table::CellOrNull(row.layer); })
      .AddInt({.name = "index", .title = "#"}, &LayerKernel::index)
      .Add({.name = "block"},
           [](const LayerKernel& row) -> Cell {
             if (row.block == layers::kNoBlock) return table::Null();
             return int64_t{row.block};
           })
      .Add({.name = "block_name", .title = "half"}, Text(&LayerKernel::block_name))
      .AddInt({.name = "start_ns"}, &LayerKernel::start_ns)
      .AddInt({.name = "ts_rel_ns"}, &LayerKernel::ts_rel_ns)
      .Add({.name = "dims", .title = "input dims"}, Text(&LayerKernel::dims));
  AddFusedForMachines(table);
  AddPlace(view, table, &LayerKernel::place);
  return table.Take();
}

table::Table LayerKernelsForPeople(const RankView& view, std::vector<LayerKernel> rows,
                                   int64_t total_ns, bool full_names) {
  std::set<std::pair<int64_t, std::optional<int64_t>>> layers;
  for (LayerKernel& row : rows) {
    layers.emplace(row.pass, row.layer);
    if (!full_names) row.dims = ShortDims(row.dims);
  }
  const FusedShown<LayerKernel> fused(rows, full_names);
  RowTable<LayerKernel> table(std::move(rows));
  if (layers.size() > 1) {
    table.AddInt({.name = "pass"}, &LayerKernel::pass)
        .Add({.name = "layer", .title = "L"},
             [](const LayerKernel& row) { return table::CellOrNull(row.layer); });
  }
  table.AddInt({.name = "index", .title = "#"}, &LayerKernel::index)
      .Add({.name = "block_name", .title = "half", .priority = 1}, Text(&LayerKernel::block_name))
      .AddText({.name = "category", .priority = 1}, &LayerKernel::category)
      .AddText(Key("kernel"), full_names ? &LayerKernel::name : &LayerKernel::shown_name);
  AddPlace(view, table, &LayerKernel::place);
  table.AddInt(Share("dur_ns", "dur", total_ns), &LayerKernel::dur_ns)
      .AddInt(Nanoseconds("ts_rel_ns", "ts_rel"), &LayerKernel::ts_rel_ns);
  table::ColumnSpec dims = Key("dims", "input dims");
  dims.priority = 2;
  table.Add(dims, Text(&LayerKernel::dims));
  fused.AddTo(table);
  table::Table built = table.Take();
  built.notes.emplace_back("#: place in the layer by time; ts_rel: start after the layer's first");
  return built;
}

table::Table GroupTable(const std::vector<LayerKernel>& rows, int64_t total_ns) {
  struct GroupRow {
    std::string group;
    int64_t n = 0;
    int64_t sum_ns = 0;
  };
  std::map<std::string, GroupRow> groups;
  for (const LayerKernel& row : rows) {
    GroupRow& group = groups[row.group];
    group.group = row.group;
    ++group.n;
    group.sum_ns += row.dur_ns;
  }
  std::vector<GroupRow> ranked;
  for (auto& [name, group] : groups) ranked.push_back(std::move(group));
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const GroupRow& a, const GroupRow& b) { return a.sum_ns > b.sum_ns; });
  RowTable<GroupRow> table(std::move(ranked));
  table.AddText(Key("group"), &GroupRow::group)
      .AddInt(Count("n", "n"), &GroupRow::n)
      .AddInt(Share("sum_ns", "sum", total_ns), &GroupRow::sum_ns);
  return table.Take();
}

std::string ShortDims(const std::string& dims) {
  constexpr std::string_view kNoTensor = ",[]";
  if (!dims.ends_with("]")) return dims;
  std::string_view inner = std::string_view(dims).substr(0, dims.size() - 1);
  while (inner.ends_with(kNoTensor)) inner.remove_suffix(kNoTensor.size());
  if (inner.size() + 1 == dims.size()) return dims;
  return fmt::format("{},…]", inner);
}

}  // namespace layerscope::analysis
