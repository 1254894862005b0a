#include "src/analysis/modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/analysis/abstentions.h"
#include "src/analysis/alignment_table.h"
#include "src/analysis/compiled_table.h"
#include "src/analysis/coverage.h"
#include "src/analysis/module_nodes.h"
#include "src/analysis/module_table.h"
#include "src/analysis/module_tree_view.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/rollup.h"
#include "src/table/limit.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

constexpr int64_t kRollupRowsForPeople = 30;

table::Object ReasonsOf(const Unattributed& rest) {
  table::Object reasons;
  for (size_t i = 1; i < rest.by_reason.size(); ++i) {
    reasons.emplace_back(attribution::ToString(static_cast<attribution::Reason>(i)),
                         rest.by_reason[i]);
  }
  return reasons;
}

void AddTotals(const RankView& view, const ModulesOptions& options, const ModuleNodes& tree,
               table::Object& data) {
  if (options.selection.without_communication) {
    data.emplace_back("communication_left_out_ns", view.left_out_communication_ns());
  }
  const Unattributed& rest = tree.unattributed;
  data.emplace_back("unattributed", table::Object{{"gpu_ns", rest.gpu_ns},
                                                  {"kernels", rest.kernels},
                                                  {"activities", rest.activities},
                                                  {"by_reason", ReasonsOf(rest)}});
  data.emplace_back("total", table::Object{{"gpu_ns", tree.total_ns},
                                           {"kernels", tree.total_kernels},
                                           {"activities", tree.total_activities}});
  data.emplace_back("alignment", AlignmentForMachines(view));
}

/// What became of the graphs, below the modules.
void AddGraphs(const RankView& view, const ModulesOptions& options, table::RankResult& result) {
  if (!options.presentation.for_people) return;
  std::optional<table::Block> graphs = GraphsBlock(view, options.presentation);
  if (graphs) result.blocks.push_back(*std::move(graphs));
}

/// What code of torch.compile ran, below or between the modules of the tree.
void AddCompiledRegions(const RankView& view, bool for_people, table::RankResult& result) {
  const InductorKernels kernels(view);
  NoteCompiledRegions(view, kernels, result);
  if (kernels.regions().empty()) return;
  table::Table rows = CompiledRegionRows(view, kernels);
  if (for_people && rows.n_rows > 0) {
    result.blocks.push_back(table::TableBlock("Compiled regions", rows));
  }
  result.data.emplace_back("compiled_regions", std::move(rows));
}

/// Orders siblings by the column that --sort names.
base::Status Sort(const RankView& view, const std::string& sort, std::vector<ModuleNode>& nodes) {
  if (sort.empty()) return {};
  table::Table table = NodesForMachines(view, nodes);
  if (base::Status sorted = table::SortBy(table, sort); !sorted.ok()) return sorted;
  std::vector<size_t> rank_of(nodes.size());
  for (size_t i = 0; i < table.size(); ++i) rank_of[table.RowAt(i)] = i;
  nodes = SortSiblings(std::move(nodes), rank_of);
  return {};
}

base::Result<table::RankResult> ComputeTree(const RankView& view, const ModuleNodes& tree,
                                            const ModulesOptions& options) {
  base::Result<ModuleTreeView> shown = ViewTree(tree, options);
  if (!shown.ok()) return std::move(shown).error();
  if (base::Status sorted = Sort(view, options.presentation.sort, shown->nodes); !sorted.ok()) {
    return std::move(sorted).error();
  }
  table::RankResult result = StartResult(view);
  result.abstained = WithoutModules(view);
  if (options.presentation.for_people) {
    result.blocks.push_back(BlockOfNodes(view, tree, *shown, options.presentation));
  }
  table::Table nodes = NodesForMachines(view, std::move(shown->nodes));
  table::LimitRows(nodes, options.presentation.Limit(0));
  result.data = {{"nodes", std::move(nodes)},
                 {"not_listed", table::Object{{"modules", shown->n_not_listed},
                                              {"gpu_excl_ns", shown->not_listed_excl_ns}}}};
  AddTotals(view, options, tree, result.data);
  AddGraphs(view, options, result);
  AddCompiledRegions(view, options.presentation.for_people, result);
  result.main_table = "nodes";
  return result;
}

base::Result<table::RankResult> ComputeRollup(const RankView& view, const ModuleNodes& tree,
                                              const ModulesOptions& options) {
  base::Result<ModuleTreeView> shown = ViewTree(tree, options);
  if (!shown.ok()) return std::move(shown).error();
  base::Result<std::vector<RollupRow>> rows = RollUp(shown->nodes, options.rollup);
  if (!rows.ok()) return std::move(rows).error();
  if (options.presentation.for_people) OrderForPeople(*rows);
  table::RankResult result = StartResult(view);
  result.abstained = WithoutModules(view);
  table::Table table = RollupForMachines(view, *rows);
  if (base::Status sorted = table::SortBy(table, options.presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out =
      table::LimitRows(table, options.presentation.Limit(kRollupRowsForPeople));
  if (options.presentation.for_people) {
    table::Table people = RollupForPeople(view, tree, *std::move(rows));
    people.order = table.order;
    table::NoteRowsLeftOut(people, left_out);
    result.blocks.push_back(table::TableBlock(std::move(people)));
  }
  result.data = {{"rollup", options.rollup},
                 {"rows", std::move(table)},
                 {"not_listed", table::Object{{"modules", shown->n_not_listed},
                                              {"gpu_excl_ns", shown->not_listed_excl_ns}}}};
  AddTotals(view, options, tree, result.data);
  AddGraphs(view, options, result);
  AddCompiledRegions(view, options.presentation.for_people, result);
  result.main_table = "rows";
  return result;
}

}  // namespace

base::Result<Output> ComputeModules(const AnalysisInput& input, const ModulesOptions& options) {
  return ForEachRank(input, options.selection, [&](const RankView& view) {
    const ModuleNodes tree = BuildModuleNodes(view);
    return options.rollup.empty() ? ComputeTree(view, tree, options)
                                  : ComputeRollup(view, tree, options);
  });
}

}  // namespace layerscope::analysis
