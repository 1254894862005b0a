#include "src/analysis/module_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/analysis/alignment_table.h"
#include "src/analysis/module_labels.h"
#include "src/analysis/row_table.h"
#include "src/base/checked_sum.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"

namespace layerscope::analysis {
namespace {

using table::Cell;
using table::ColumnSpec;

constexpr const char* kUnattributed = "[unattributed]";
/// Marks the row that stands for what no module explains.
constexpr int64_t kPseudoId = -1;

/// A cell of a real module; null in the row of [unattributed].
auto OfModule(int64_t ModuleNode::*member) {
  return [member](const ModuleNode& node) -> Cell {
    if (node.id == kPseudoId) return table::Null();
    return node.*member;
  };
}

Cell BusyOf(const ModuleNode& node) {
  if (node.id == kPseudoId || !node.gpu_busy_ns) return table::Null();
  return *node.gpu_busy_ns;
}

const char* TimeTitle(const RankView& view) {
  return view.cpu_only() ? "CPU time" : "GPU time";
}

std::string TitleOf(const RankView& view, const ModuleNodes& tree) {
  return fmt::format("{} by module: {}", view.cpu_only() ? "CPU self time" : "GPU time",
                     base::FormatDuration(tree.total_ns));
}

ModuleNode UnattributedRow(const Unattributed& rest) {
  ModuleNode row;
  row.id = kPseudoId;
  row.instance = kUnattributed;
  row.gpu_incl_ns = rest.gpu_ns;
  row.gpu_excl_ns = rest.gpu_ns;
  row.kernels_incl = rest.kernels;
  row.activities_incl = rest.activities;
  return row;
}

/// Modules without time only hide those with it; all are listed when nothing has time.
int64_t DropIdle(std::vector<ModuleNode>& nodes) {
  const auto idle = [](const ModuleNode& node) { return node.activities_incl == 0; };
  const auto n_idle = std::count_if(nodes.begin(), nodes.end(), idle);
  if (static_cast<size_t>(n_idle) == nodes.size()) return 0;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), idle), nodes.end());
  return n_idle;
}

bool AnyClass(const std::vector<ModuleNode>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ModuleNode& row) { return !row.class_name.empty(); });
}

/// "3 calls recorded a graph and ran nothing; they are not counted": of the outermost modules.
std::string CapturesText(const ModuleNodes& tree) {
  int64_t n = 0;
  for (const ModuleNode& node : tree.nodes) {
    const bool is_inside =
        node.parent >= 0 && tree.nodes[static_cast<size_t>(node.parent)].captured_calls > 0;
    if (!is_inside) n += node.captured_calls;
  }
  if (n == 0) return {};
  return fmt::format("{} recorded a graph and ran nothing: not counted here",
                     base::FormatCounted(n, "more call"));
}

/// What has no module, and how replayed kernels got theirs.
void AddNotes(const RankView& view, const ModuleNodes& tree, table::Table& table) {
  if (std::string rest = UnattributedText(tree); !rest.empty()) table.notes.push_back(rest);
  if (std::string replays = ReplayEvidenceText(view); !replays.empty()) {
    table.notes.push_back(std::move(replays));
  }
  if (std::string paths = PathsText(view); !paths.empty()) table.notes.push_back(std::move(paths));
}

void AddName(const RankView& view, bool with_class, RowTable<ModuleNode>& table) {
  ColumnSpec name = Key("module");
  name.role = table::Role::kTree;
  table.AddText(name, &ModuleNode::instance);
  ColumnSpec of_class{.name = "class"};
  of_class.priority = 1;
  if (with_class) table.AddText(of_class, &ModuleNode::class_name);
  table.SetDepth([](const ModuleNode& node) { return node.depth - 1; });
  AddPlace(view, table, &ModuleNode::place);
}

void AddTimes(const RankView& view, const ModuleNodes& tree, RowTable<ModuleNode>& table) {
  if (view.cpu_only()) {
    table.AddInt(Count("ops", "ops", 2), &ModuleNode::activities_incl);
  } else {
    table.AddInt(Count("kernels_incl", "kernels", 2), &ModuleNode::kernels_incl);
  }
  table.AddInt(Share("gpu_incl_ns", TimeTitle(view), tree.total_ns), &ModuleNode::gpu_incl_ns);
  table.AddInt(Nanoseconds("gpu_excl_ns", "own"), &ModuleNode::gpu_excl_ns);
}

void AddColumnsForPeople(const RankView& view, const ModuleNodes& tree, bool with_class,
                         RowTable<ModuleNode>& table) {
  AddName(view, with_class, table);
  table.Add(Count("calls", "calls", 1), OfModule(&ModuleNode::calls));
  AddTimes(view, tree, table);
  table.Add(Nanoseconds("gpu_busy_ns", "busy", 3), BusyOf);
  const auto of_run = [](int64_t ModuleNode::*member) {
    return [member](const ModuleNode& node) -> Cell {
      if (node.repeat == 1) return table::Null();
      return node.*member;
    };
  };
  const auto of_members = [](const char* name, const char* title) {
    ColumnSpec spec = Nanoseconds(name, title, 3);
    spec.note =
        "min, max: time of one module of a row that stands for several (×N), over all calls";
    return spec;
  };
  table.Add(of_members("min_incl_ns", "min"), of_run(&ModuleNode::min_incl_ns));
  table.Add(of_members("max_incl_ns", "max"), of_run(&ModuleNode::max_incl_ns));
}

/// "… and 2 more (0.054 ms)": the roots that have time and are not among the rows.
std::string MoreRootsText(const ModuleNodes& tree, const std::vector<ModuleNode>& rows) {
  int64_t n_more = 0;
  int64_t more_ns = 0;
  for (const ModuleNode& node : tree.nodes) {
    if (node.parent >= 0 || node.gpu_incl_ns <= 0) continue;
    ++n_more;
    more_ns += node.gpu_incl_ns;
  }
  for (const ModuleNode& row : rows) {
    if (row.parent >= 0) continue;
    n_more -= row.repeat;
    more_ns -= row.gpu_incl_ns;
  }
  // A shown run may hold members without time.
  if (n_more <= 0 || more_ns <= 0) return {};
  return fmt::format("… and {} more ({})", base::FormatCount(n_more),
                     base::FormatDuration(more_ns));
}

/// "modules inside of these that are not listed: 8.65 ms": of rows that some of their modules stand
/// below, the time of the others.
std::string LeftOutBelowText(const std::vector<ModuleNode>& rows) {
  std::vector<int64_t> below_ns(rows.size(), -1);  // -1: none is shown
  for (const ModuleNode& row : rows) {
    if (row.parent < 0) continue;
    int64_t& sum_ns = below_ns[static_cast<size_t>(row.parent)];
    sum_ns = base::AddClamped(std::max<int64_t>(sum_ns, 0), row.gpu_incl_ns);
  }
  int64_t left_ns = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (below_ns[i] < 0) continue;
    left_ns += rows[i].gpu_incl_ns - rows[i].gpu_excl_ns - below_ns[i];
  }
  if (left_ns <= 0) return {};
  return fmt::format("modules inside of these that are not listed: {}",
                     base::FormatDuration(left_ns));
}

}  // namespace

table::Table NodesForMachines(const RankView& view, std::vector<ModuleNode> nodes) {
  RowTable<ModuleNode> table(std::move(nodes));
  table.AddInt({.name = "id"}, &ModuleNode::id)
      .Add({.name = "parent"},
           [](const ModuleNode& node) -> Cell {
             if (node.parent < 0) return table::Null();
             return node.parent;
           })
      .Add({.name = "depth"}, [](const ModuleNode& node) { return int64_t{node.depth}; })
      .AddText({.name = "path", .title = "module"}, &ModuleNode::path)
      .AddText({.name = "class"}, &ModuleNode::class_name)
      .AddText({.name = "instance"}, &ModuleNode::instance);
  const auto add = [&table](const char* name, int64_t ModuleNode::*member, const char* title = "") {
    table.AddInt({.name = name, .title = title}, member);
  };
  add("calls", &ModuleNode::calls);
  add("captured_calls", &ModuleNode::captured_calls);
  add("cpu_ns", &ModuleNode::cpu_ns);
  add("cpu_self_ns", &ModuleNode::cpu_self_ns);
  table.AddInt(Share("gpu_incl_ns", TimeTitle(view), 0), &ModuleNode::gpu_incl_ns);
  add("gpu_excl_ns", &ModuleNode::gpu_excl_ns, "own");
  table.Add({.name = "gpu_busy_ns", .title = "busy"}, BusyOf);
  add("kernel_incl_ns", &ModuleNode::kernel_incl_ns);
  add("kernel_excl_ns", &ModuleNode::kernel_excl_ns);
  add("kernels_incl", &ModuleNode::kernels_incl, "kernels");
  add("kernels_excl", &ModuleNode::kernels_excl);
  add("activities_incl", &ModuleNode::activities_incl, "ops");
  add("activities_excl", &ModuleNode::activities_excl);
  table.Add({.name = "evidence"},
            [](const ModuleNode& node) { return Cell(ToCellMap(node.evidence_ns)); });
  table.AddInt({.name = "repeat"}, &ModuleNode::repeat)
      .AddInt({.name = "min_incl_ns", .title = "min"}, &ModuleNode::min_incl_ns)
      .AddInt({.name = "max_incl_ns", .title = "max"}, &ModuleNode::max_incl_ns);
  AddPlace(view, table, &ModuleNode::place);
  return table.Take();
}

table::Block BlockOfNodes(const RankView& view, const ModuleNodes& tree,
                          const ModuleTreeView& shown, const Presentation& presentation) {
  std::vector<ModuleNode> rows = shown.nodes;
  LabelRows(rows);
  const int64_t n_idle = presentation.rows == 0 ? 0 : DropIdle(rows);
  if (tree.unattributed.activities > 0) rows.push_back(UnattributedRow(tree.unattributed));
  const auto n_rows = static_cast<int64_t>(rows.size());
  const bool with_class = AnyClass(rows);
  RowTable<ModuleNode> builder(std::move(rows));
  AddColumnsForPeople(view, tree, with_class, builder);
  table::Table table = builder.Take();
  table.title = TitleOf(view, tree);
  AddNotes(view, tree, table);
  if (std::string captures = CapturesText(tree); !captures.empty()) {
    table.notes.push_back(std::move(captures));
  }
  const int64_t limit = presentation.Limit(0);
  if (limit > 0 && n_rows > limit) table::NoteRowsLeftOut(table, table::LimitRows(table, limit));
  if (shown.n_not_listed > 0) {
    table.notes.push_back(fmt::format("{} {} not listed (own time {}); --depth N, -n 0 list more",
                                      base::FormatCounted(shown.n_not_listed, "module"),
                                      shown.n_not_listed == 1 ? "is" : "are",
                                      base::FormatDuration(shown.not_listed_excl_ns)));
  }
  if (n_idle > 0) {
    table.notes.push_back(fmt::format("{} without {} time {} not listed; -n 0 lists all",
                                      base::FormatCounted(n_idle, "row"),
                                      view.cpu_only() ? "CPU" : "GPU", n_idle == 1 ? "is" : "are"));
  }
  return table::TableBlock(std::move(table));
}

table::Block BlockOfTopModules(const RankView& view, const ModuleNodes& tree,
                               std::vector<ModuleNode> rows) {
  LabelRows(rows);
  std::string more = MoreRootsText(tree, rows);
  std::string below = LeftOutBelowText(rows);
  if (tree.unattributed.activities > 0) rows.push_back(UnattributedRow(tree.unattributed));
  const bool with_class = AnyClass(rows);
  RowTable<ModuleNode> builder(std::move(rows));
  AddName(view, with_class, builder);
  AddTimes(view, tree, builder);
  table::Table table = builder.Take();
  table.title = TitleOf(view, tree);
  if (!more.empty()) table.notes.push_back(std::move(more));
  if (!below.empty()) table.notes.push_back(std::move(below));
  AddNotes(view, tree, table);
  if (std::string files = ReplaySourcesText(view); !files.empty()) {
    table.notes.push_back("modules of graph replays from " + files);
  }
  return table::TableBlock(std::move(table));
}

table::Table RollupForMachines(const RankView& view, std::vector<RollupRow> rows) {
  RowTable<RollupRow> table(std::move(rows));
  table.AddText({.name = "key", .title = "modules"}, &RollupRow::key)
      .Add({.name = "captures"}, [](const RollupRow& row) { return Cell(row.captures); });
  const auto add = [&table](const char* name, int64_t RollupRow::*member, const char* title = "") {
    table.AddInt({.name = name, .title = title}, member);
  };
  add("n_modules", &RollupRow::n_modules, "n");
  add("calls", &RollupRow::calls);
  add("cpu_ns", &RollupRow::cpu_ns);
  table.AddInt(Share("gpu_incl_ns", TimeTitle(view), 0), &RollupRow::gpu_incl_ns);
  add("gpu_excl_ns", &RollupRow::gpu_excl_ns, "own");
  add("kernel_incl_ns", &RollupRow::kernel_incl_ns);
  add("kernel_excl_ns", &RollupRow::kernel_excl_ns);
  add("kernels_incl", &RollupRow::kernels_incl, "kernels");
  add("kernels_excl", &RollupRow::kernels_excl);
  table.Add({.name = "evidence"},
            [](const RollupRow& row) { return Cell(ToCellMap(row.evidence_ns)); });
  return table.Take();
}

table::Table RollupForPeople(const RankView& view, const ModuleNodes& tree,
                             std::vector<RollupRow> rows) {
  for (RollupRow& row : rows) row.key = ShownPath(std::move(row.key));
  RowTable<RollupRow> builder(std::move(rows));
  builder.AddText(Key("key", "modules"), &RollupRow::key)
      .AddInt(Count("n_modules", "n"), &RollupRow::n_modules)
      .Add(Count("calls", "calls", 1),
           [](const RollupRow& row) -> Cell {
             if (row.is_other()) return table::Null();
             return row.calls;
           })
      .AddInt(
          Count(view.cpu_only() ? "ops" : "kernels_incl", view.cpu_only() ? "ops" : "kernels", 2),
          view.cpu_only() ? &RollupRow::activities_incl : &RollupRow::kernels_incl)
      .AddInt(Share("gpu_incl_ns", TimeTitle(view), tree.total_ns), &RollupRow::gpu_incl_ns)
      .AddInt(Share("gpu_excl_ns", "own", tree.total_ns), &RollupRow::gpu_excl_ns);
  table::Table table = builder.Take();
  table.title = TitleOf(view, tree);
  AddNotes(view, tree, table);
  return table;
}

std::string UnattributedText(const ModuleNodes& tree) {
  const Unattributed& rest = tree.unattributed;
  if (rest.activities == 0) return {};
  std::vector<std::string> reasons;
  for (size_t i = 1; i < rest.by_reason.size(); ++i) {
    if (rest.by_reason[i] == 0) continue;
    reasons.push_back(fmt::format("{} {}",
                                  attribution::ToString(static_cast<attribution::Reason>(i)),
                                  base::FormatShare(rest.by_reason[i], tree.total_ns)));
  }
  return fmt::format("{} is {}", kUnattributed, fmt::join(reasons, ", "));
}

}  // namespace layerscope::analysis
