#include "src/document/map/model_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "src/analysis/alignment_table.h"
#include "src/analysis/coverage.h"
#include "src/analysis/module_nodes.h"
#include "src/analysis/row_table.h"
#include "src/base/checked_sum.h"
#include "src/document/map/context.h"
#include "src/document/map/layers.h"
#include "src/document/map/nodes.h"
#include "src/document/map/values.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using analysis::RankView;
using table::Array;
using table::Object;
using table::Value;

/// Raised when a key changes its meaning or goes.
constexpr int kSchemaVersion = 1;

/// Module times by path of every rank; empty for one rank.
std::vector<PathTimes> TimesByPath(const std::vector<ExecutionRank>& ranks) {
  std::vector<PathTimes> times;
  if (ranks.size() < 2) return times;
  const RankView* view = nullptr;
  analysis::ModuleNodes tree;
  for (const ExecutionRank& rank : ranks) {
    if (rank.view != view) tree = analysis::BuildModuleNodes(*rank.view);
    view = rank.view;
    PathTimes of_rank;
    for (const analysis::ModuleNode& node : tree.nodes) {
      if (rank.process.valid() && node.place.pid != view->PidLabel(rank.process)) continue;
      auto& [gpu_ns, cpu_ns] = of_rank.of_path[node.path];
      gpu_ns += node.gpu_incl_ns;
      cpu_ns = base::AddClamped(cpu_ns, node.cpu_ns);
    }
    times.push_back(std::move(of_rank));
  }
  return times;
}

Array RankList(const std::vector<ExecutionRank>& ranks) {
  Array array;
  for (const ExecutionRank& rank : ranks) {
    RowSums sums, unattributed;
    for (const uint32_t row : rank.rows) {
      sums.AddRow(*rank.view, row);
      if (!rank.attribution().module[row].valid()) unattributed.AddRow(*rank.view, row);
    }
    Object object{
        {"rank", RankValue(rank)}, {"pid", PidValue(rank)}, {"input", rank.view->input().path}};
    sums.WriteTo(object);
    object.emplace_back("unattributed_ns", unattributed.gpu_ns);
    array.emplace_back(std::move(object));
  }
  return array;
}

Value ModuleTreeValue(const Execution& execution, const NodeWriter& writer) {
  const std::vector<uint32_t>& roots = execution.map.roots;
  if (roots.size() == 1) return writer.Module(roots.front(), "");
  return writer.Around(roots);
}

/// Every kernel by its whole name, largest first; copies and sets apart, for the legacy key holds
/// kernels alone.
Object KernelSummary(const Execution& execution, bool kernels) {
  struct Sum {
    trace::StringId name;
    int64_t n = 0;
    int64_t ns = 0;
  };
  const RankView& view = *execution.rank.view;
  std::vector<Sum> sums;
  std::vector<uint32_t> index(view.trace().strings.size(), MapNode::kNone);
  for (const uint32_t row : execution.rank.rows) {
    if (view.cpu_only() || view.IsKernel(row) != kernels) continue;
    const trace::StringId name = view.activities().name[row];
    uint32_t& at = index[name.index()];
    if (at == MapNode::kNone) {
      at = static_cast<uint32_t>(sums.size());
      sums.push_back({name, 0, 0});
    }
    ++sums[at].n;
    sums[at].ns += view.activities().dur_ns[row];
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Sum& a, const Sum& b) { return a.ns > b.ns; });
  Object object;
  for (const Sum& sum : sums) {
    const kernel_names::CategoryId category = view.attribution().category_of_name[sum.name.index()];
    object.emplace_back(std::string(view.trace().strings[sum.name]),
                        Object{{"count", sum.n},
                               {"total_dur_us", Microseconds(sum.ns)},
                               {"role", view.rules().category(category).name},
                               {"gpu_ns", sum.ns}});
  }
  return object;
}

/// What no module explains: listed as ops where an op is known, the rest is without any.
Object Unattributed(const Execution& execution) {
  const ExecutionRank& rank = execution.rank;
  const attribution::Attribution& attr = rank.attribution();
  std::array<int64_t, attribution::kReasonCount> by_reason{};
  RowSums sums;
  int64_t without_op_ns = 0;
  for (size_t i = 0; i < rank.rows.size(); ++i) {
    const uint32_t row = rank.rows[i];
    if (attr.module[row].valid()) continue;
    sums.AddRow(*rank.view, row);
    const int64_t dur_ns = rank.view->activities().dur_ns[row];
    by_reason[static_cast<size_t>(attr.module_reason[row])] += dur_ns;
    if (execution.tree.node_of_row[i] == ExecutionNode::kNone) without_op_ns += dur_ns;
  }
  Object reasons;
  for (size_t i = 1; i < by_reason.size(); ++i) {
    reasons.emplace_back(attribution::ToString(static_cast<attribution::Reason>(i)), by_reason[i]);
  }
  return {{"gpu_ns", sums.gpu_ns},
          {"kernels", sums.kernels},
          {"without_op_ns", without_op_ns},
          {"by_reason", std::move(reasons)}};
}

void AddLayers(LayerParts parts, Object& root) {
  root.emplace_back("layers", table::OrNull(parts.layers));
  root.emplace_back("layer_source", table::TextOrNull(parts.source));
  root.emplace_back("layer_pattern", table::TextOrNull(parts.pattern));
  root.emplace_back("ops_per_layer", table::OrNull(parts.ops_per_layer));
  root.emplace_back("layer_template", std::move(parts.layer_template));
  root.emplace_back("layer_templates", std::move(parts.layer_templates));
  root.emplace_back("per_layer", std::move(parts.per_layer));
  root.emplace_back("pre_layers", std::move(parts.pre_layers));
  root.emplace_back("post_layers", std::move(parts.post_layers));
}

Object Stats(const Execution& execution) {
  const ExecutionRank& rank = execution.rank;
  RowSums sums;
  for (const uint32_t row : rank.rows) sums.AddRow(*rank.view, row);
  const ExecutionTree::Totals& totals = execution.tree.totals;
  return {{"rank", RankValue(rank)},
          {"pid", PidValue(rank)},
          {"total_cpu_ops", totals.ops},
          {"total_kernels", sums.kernels},
          {"total_nn_module_events", totals.scopes},
          {"total_gpu_ns", sums.gpu_ns},
          {"replayed_module_calls", totals.replayed_calls}};
}

/// What the tree of a rank holds; one row a rank.
struct RankRow {
  size_t file = 0;
  analysis::LabelValue rank;
  analysis::LabelValue pid;  ///< where the file has several
  std::string input;
  int64_t gpu_ns = 0;
  int64_t kernels = 0;
  int64_t modules = 0;
  std::optional<int64_t> layers;  ///< of the rank whose tree the document has
  int64_t passes = 0;
  int64_t ops = 0;
};

void CountTree(const ExecutionTree& tree, const Forwards& forwards, RankRow& row) {
  row.modules = tree.totals.modules;
  row.ops = tree.totals.ops;
  row.passes = static_cast<int64_t>(forwards.size());
}

/// The first is the rank whose tree the document has; the others' modules stand in it by path.
std::vector<RankRow> CountRanks(const std::vector<ExecutionRank>& ranks, const Execution& execution,
                                std::optional<int64_t> n_layers) {
  std::vector<RankRow> rows;
  size_t file = 0;
  const RankView* view = ranks.front().view;
  for (const ExecutionRank& rank : ranks) {
    file += rank.view == view ? 0 : 1;
    view = rank.view;
    RankRow& row = rows.emplace_back();
    row.file = file;
    row.rank = rank.view->RankLabel(rank.process);
    if (rank.process.valid()) row.pid = rank.view->PidLabel(rank.process);
    row.input = rank.view->input().path;
    RowSums sums;
    for (const uint32_t at : rank.rows) sums.AddRow(*rank.view, at);
    row.gpu_ns = sums.gpu_ns;
    row.kernels = sums.kernels;
    if (rows.size() == 1) {
      CountTree(execution.tree, execution.forwards, row);
      row.layers = n_layers;
    } else {
      const Forwards forwards(rank);
      CountTree(BuildExecutionTree(rank, forwards), forwards, row);
    }
  }
  return rows;
}

/// One part a file: of several processes the sums, and the passes of the first.
void DescribeFiles(const std::vector<RankRow>& rows, JsonDocument& document) {
  size_t at = 0;
  for (size_t file = 0; file < document.ranks.size(); ++file) {
    RankRow sum;
    for (bool is_first = true; at < rows.size() && rows[at].file == file; ++at) {
      const RankRow& row = rows[at];
      sum.gpu_ns += row.gpu_ns;
      sum.kernels += row.kernels;
      sum.modules += row.modules;
      sum.ops += row.ops;
      if (std::exchange(is_first, false)) {
        sum.layers = row.layers;
        sum.passes = row.passes;
      }
    }
    document.ranks[file].data = {{"gpu_ns", sum.gpu_ns},   {"kernels", sum.kernels},
                                 {"modules", sum.modules}, {"layers", table::OrNull(sum.layers)},
                                 {"passes", sum.passes},   {"ops", sum.ops}};
  }
}

/// For people one row a rank, also where one file holds several.
table::Table TableOfRanks(std::vector<RankRow> rows, bool cpu_only) {
  const bool several = rows.size() > 1;
  const bool many_files = rows.back().file > 0;
  const bool many_processes = std::any_of(rows.begin(), rows.end(), [](const RankRow& row) {
    return !std::holds_alternative<std::monostate>(row.pid);
  });
  const auto* const number = std::get_if<int64_t>(&rows.front().rank);
  const std::string first =
      number != nullptr ? fmt::format("rank {}", *number) : std::string("the first");
  analysis::RowTable<RankRow> table(std::move(rows));
  if (several) {
    table.Add(analysis::Key("rank"), [](const RankRow& row) { return analysis::ToCell(row.rank); });
  }
  if (many_processes) {
    table.Add(analysis::Key("pid"), [](const RankRow& row) { return analysis::ToCell(row.pid); });
  }
  if (many_files) table.AddText({.name = "input", .role = table::Role::kName}, &RankRow::input);
  table.AddInt(analysis::Nanoseconds("gpu_ns", cpu_only ? "op time" : "GPU time"), &RankRow::gpu_ns)
      .AddInt(analysis::Count("kernels", "kernels"), &RankRow::kernels)
      .AddInt(analysis::Count("modules", "modules"), &RankRow::modules)
      .Add(analysis::Count("layers", "layers"),
           [](const RankRow& row) { return table::CellOrNull(row.layers); })
      .AddInt(analysis::Count("passes", "passes"), &RankRow::passes)
      .AddInt(analysis::Count("ops", "ops"), &RankRow::ops);
  table::Table out = table.Take();
  if (several) {
    out.notes.push_back(fmt::format(
        "module_tree, layers, summaries and stats are those of {}; of the others the document "
        "holds the times of each module, by path",
        first));
  }
  return out;
}

void WriteDocument(const analysis::AnalysisInput& input, const std::vector<RankView>& views,
                   const MapOptions& options, JsonDocument& document) {
  const std::vector<ExecutionRank> ranks = SplitRanks(views);
  const std::vector<PathTimes> times = TimesByPath(ranks);
  const auto execution = std::make_unique<Execution>(ranks.front(), options.collapse);
  const NodeWriter writer(*execution, times);
  LayerParts layers = WriteLayers(*execution, writer);
  std::vector<RankRow> rows = CountRanks(ranks, *execution, layers.layers);
  DescribeFiles(rows, document);
  document.blocks.push_back(
      table::TableBlock(TableOfRanks(std::move(rows), views.front().cpu_only())));
  Object root{{"schema_version", kSchemaVersion}};
  AddContext(input, *execution, root);
  AddLayers(std::move(layers), root);
  root.emplace_back("kernel_summary", KernelSummary(*execution, true));
  root.emplace_back("copy_summary", KernelSummary(*execution, false));
  root.emplace_back("module_tree", ModuleTreeValue(*execution, writer));
  root.emplace_back("pre_model_ops", writer.Ops(execution->map.before));
  root.emplace_back("post_model_ops", writer.Ops(execution->map.after));
  root.emplace_back("unattributed", Unattributed(*execution));
  root.emplace_back("passes", PassList(*execution));
  root.emplace_back("ranks", RankList(ranks));
  root.emplace_back("alignment", analysis::AlignmentForMachines(*execution->rank.view));
  root.emplace_back("stats", Stats(*execution));
  document.root = std::move(root);
}

}  // namespace

base::Result<JsonDocument> BuildModelExecution(const analysis::AnalysisInput& input,
                                               const MapOptions& options) {
  base::Result<std::vector<RankView>> views = analysis::Select(input, options.selection);
  if (!views.ok()) return std::move(views).error();
  JsonDocument document;
  document.name = "model_execution";
  for (const RankView& view : *views) {
    if (!view.times_fit()) {
      return base::Error{base::ErrorCode::kInvalidInput,
                         "the times of " + view.input().path + " add up to more than 2^63 ns",
                         "re-record the trace, or select a part of it that was written whole"};
    }
    document.ranks.push_back(analysis::StartResult(view));
  }
  WriteDocument(input, *views, options, document);
  return document;
}

}  // namespace layerscope::document
