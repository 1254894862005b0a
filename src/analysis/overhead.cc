#include "src/analysis/overhead.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/abstentions.h"
#include "src/analysis/coverage.h"
#include "src/analysis/overhead_medians.h"
#include "src/analysis/overhead_reduce.h"
#include "src/analysis/overhead_rows.h"
#include "src/analysis/overhead_table.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/step_rows.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

constexpr int64_t kRowsForPeople = 30;
/// Groups of steps with a table of their own.
constexpr size_t kGroupsForPeople = 3;

table::Abstention NothingCompleted() {
  return {"no_step_work",
          "no kernel, copy or set is known to be launched by a step: its completion is not known",
          "record the calls that launch (cuda_runtime events; nsys profile -t cuda)"};
}

void Abstain(table::Abstention reason, table::RankResult& result) {
  result.abstained = std::move(reason);
  result.data = {{"steps", table::Array()}, {"median", table::Array()}, {"worst", table::Array()}};
}

/// From where a wall runs; the first step of a process has none before it.
std::string WallText(const std::vector<OverheadRow>& rows) {
  std::string text = "wall: from the last completion of the steps before to the step's own";
  std::set<int64_t> first;
  for (const OverheadRow& row : rows) {
    if (row.is_first) first.insert(row.index);
  }
  if (first.empty()) return text;
  return fmt::format(
      "{}; {} no step before in this file: from the start of the annotation", text,
      first.size() == 1 ? fmt::format("step {} has", *first.begin()) : "the first steps have");
}

/// What the numbers do not say by themselves.
std::vector<std::string> Notes(const OverheadRows& overhead) {
  std::vector<std::string> notes;
  int64_t without_wall = 0;
  int64_t whole_graphs = 0;
  for (const OverheadRow& row : overhead.rows) {
    without_wall += row.wall_ns == 0 ? 1 : 0;
    whole_graphs += row.n_whole_graphs;
  }
  notes.push_back(WallText(overhead.rows));
  if (without_wall > 0) {
    notes.push_back(
        fmt::format("{} with wall 0: completed nothing after the steps before, or launched nothing",
                    base::FormatCounted(without_wall, "step")));
  }
  if (whole_graphs > 0) {
    notes.push_back(fmt::format(
        "{} recorded as a whole count as compute: what communicates or copies in them is not "
        "known; re-record with --cuda-graph-trace=node",
        base::FormatCounted(whole_graphs, "graph launch", "graph launches")));
  }
  if (overhead.n_left_out > 0) {
    notes.push_back(
        fmt::format("{} ({}) without a launch belong to no known process and are left out",
                    base::FormatCounted(overhead.n_left_out, "activity", "activities"),
                    base::FormatDuration(overhead.left_out_ns)));
  }
  return notes;
}

void AddBlocks(const RankView& view, const OverheadRows& overhead, const OverheadSummary& summary,
               const table::Table& steps, int64_t left_out, bool all_groups,
               table::RankResult& result) {
  table::Table people = steps;
  people.title = StepCountText(view);
  table::NoteRowsLeftOut(people, left_out);
  for (std::string& text : WorstTexts(view, overhead, summary, steps)) {
    people.notes.push_back(std::move(text));
  }
  for (std::string& note : Notes(overhead)) people.notes.push_back(std::move(note));
  result.blocks.push_back(table::TableBlock(std::move(people)));
  const size_t n_groups =
      all_groups ? summary.medians.size() : std::min(summary.medians.size(), kGroupsForPeople);
  for (size_t i = 0; i < n_groups; ++i) {
    table::Table group = GroupTable(summary.medians[i], summary);
    if (i + 1 == n_groups && n_groups < summary.medians.size()) {
      group.notes.push_back(fmt::format(
          "… and {} with less time; -n 0 shows all",
          base::FormatCounted(static_cast<int64_t>(summary.medians.size() - n_groups), "group")));
    }
    result.blocks.push_back(table::TableBlock(std::move(group)));
  }
}

/// What it shows of the steps is added to `all`.
base::Result<table::RankResult> ComputeRank(const RankView& view, const OverheadOptions& options,
                                            std::vector<OverheadRow>& all) {
  table::RankResult result = StartResult(view);
  result.main_table = "steps";
  result.shows_modules = false;
  std::optional<table::Abstention> reason = WithoutGpuWork(view.input());
  if (!reason) reason = WithoutSteps(view);
  if (!reason) reason = WithoutNames(view);
  if (reason) {
    Abstain(*std::move(reason), result);
    return result;
  }
  OverheadRows overhead = BuildOverheadRows(view, options.selection.device);
  if (options.presentation.for_people) OrderRanks(overhead.rows);
  if (!overhead.any_completion) {
    Abstain(NothingCompleted(), result);
    return result;
  }
  all.insert(all.end(), overhead.rows.begin(), overhead.rows.end());
  const Presentation& presentation = options.presentation;
  const OverheadSummary summary = SummariseOverhead(overhead.rows);
  table::Table steps = OverheadTable(view, overhead, summary, presentation.verbose);
  if (base::Status sorted = table::SortBy(steps, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(steps, presentation.Limit(kRowsForPeople));
  if (presentation.for_people) {
    AddBlocks(view, overhead, summary, steps, left_out, presentation.rows == 0, result);
  }
  result.data = {{"steps", std::move(steps)},
                 {"median", MedianTable(summary.medians)},
                 {"worst", WorstTable(overhead, summary.worst)},
                 {"left_out", table::Object{{"activities", overhead.n_left_out},
                                            {"gpu_ns", overhead.left_out_ns}}}};
  return result;
}

/// What people see of all ranks: the groups with the most time, and the steps where they are asked
/// for.
void AddReducedBlocks(const std::vector<OverheadRow>& all, const OverheadOptions& options,
                      Output& output) {
  if (options.rank_reduce) {
    table::Table steps = ReduceOverhead(all, *options.rank_reduce);
    steps.title = fmt::format("All ranks: {} of each step",
                              RankReduceNames()[static_cast<size_t>(*options.rank_reduce)]);
    table::NoteRowsLeftOut(steps,
                           table::LimitRows(steps, options.presentation.Limit(kRowsForPeople)));
    output.reduced_blocks.push_back(table::TableBlock(std::move(steps)));
  }
  const OverheadSummary summary = SummariseOverhead(all);
  const size_t n_groups = std::min(summary.medians.size(), kGroupsForPeople);
  for (size_t i = 0; i < n_groups; ++i) {
    table::Table group = GroupTable(summary.medians[i], summary);
    group.title = "All ranks, " + group.title;
    output.reduced_blocks.push_back(table::TableBlock(std::move(group)));
  }
}

}  // namespace

base::Result<Output> ComputeOverhead(const AnalysisInput& input, const OverheadOptions& options) {
  std::vector<OverheadRow> all;
  base::Result<Output> output = ForEachRank(input, options.selection, [&](const RankView& view) {
    return ComputeRank(view, options, all);
  });
  const bool reduces = options.rank_reduce || input.ranks.size() > 1;
  if (!output.ok() || !reduces || all.empty()) return output;
  output->reduced = ReducedOverhead(all, options.rank_reduce);
  if (!options.presentation.for_people) return output;
  AddReducedBlocks(all, options, *output);
  if (!options.rank_reduce || options.per_rank) return output;
  for (table::RankResult& rank : output->ranks) {
    if (!rank.abstained)
      rank.blocks = {{.text = "reduced over ranks below; --per-rank shows each"}};
  }
  return output;
}

}  // namespace layerscope::analysis
