#include "src/analysis/overhead.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "src/analysis/coverage.h"
#include "src/analysis/overhead_medians.h"
#include "src/analysis/overhead_rows.h"
#include "src/analysis/overhead_table.h"
#include "src/analysis/rank_loop.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

constexpr int64_t kRowsForPeople = 30;
/// Groups of steps with a table of their own.
constexpr size_t kGroupsForPeople = 3;

/// Why no budget can be given, before any is computed.
std::optional<table::Abstention> ReasonNotTo(const RankView& view) {
  if (view.cpu_only()) {
    return table::Abstention{"cpu_only",
                             "this trace has no GPU work: there is no GPU time to account for",
                             "record with the GPU's activities (ProfilerActivity.CUDA)"};
  }
  if (view.activities().size() == 0) {
    return table::Abstention{"no_gpu_work", "this trace has no kernel, copy or set",
                             "record with the GPU's activities (ProfilerActivity.CUDA; "
                             "nsys profile -t cuda,nvtx)"};
  }
  if (view.attribution().steps.empty()) {
    return table::Abstention{
        "no_steps",
        "no step annotations (execute_…, step[…], _forward_step, ProfilerStep#, bench_step::): "
        "where a step begins and ends is not known",
        "profile through the engine's own profiler, or a torch.profiler schedule; for Nsight "
        "Systems with the engine's NVTX ranges on"};
  }
  return std::nullopt;
}

table::Abstention NothingCompleted() {
  return {"no_step_work",
          "no kernel, copy or set is known to be launched by a step: its completion is not known",
          "record the calls that launch (cuda_runtime events; nsys profile -t cuda)"};
}

void Abstain(table::Abstention reason, table::RankResult& result) {
  result.abstained = std::move(reason);
  result.data = {{"steps", table::Array()}, {"median", table::Array()}, {"worst", table::Array()}};
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
  notes.emplace_back("wall: from the last completion of the steps before to the step's own");
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

void AddBlocks(const OverheadRows& overhead, const OverheadSummary& summary,
               const table::Table& steps, int64_t left_out, table::RankResult& result) {
  table::Table people = steps;
  people.title = base::FormatCounted(static_cast<int64_t>(overhead.rows.size()), "step");
  table::NoteRowsLeftOut(people, left_out);
  for (std::string& text : WorstTexts(overhead, summary)) people.notes.push_back(std::move(text));
  for (std::string& note : Notes(overhead)) people.notes.push_back(std::move(note));
  result.blocks.push_back(table::TableBlock(std::move(people)));
  const size_t n_groups = std::min(summary.medians.size(), kGroupsForPeople);
  for (size_t i = 0; i < n_groups; ++i) {
    table::Table group = GroupTable(summary.medians[i]);
    if (i + 1 == n_groups && n_groups < summary.medians.size()) {
      group.notes.push_back(fmt::format(
          "… and {} with less time: --format json has them all",
          base::FormatCounted(static_cast<int64_t>(summary.medians.size() - n_groups), "group")));
    }
    result.blocks.push_back(table::TableBlock(std::move(group)));
  }
}

base::Result<table::RankResult> ComputeRank(const RankView& view, const OverheadOptions& options) {
  table::RankResult result = StartResult(view);
  result.main_table = "steps";
  if (std::optional<table::Abstention> reason = ReasonNotTo(view)) {
    Abstain(*std::move(reason), result);
    return result;
  }
  const OverheadRows overhead = BuildOverheadRows(view, options.selection.device);
  if (!overhead.any_completion) {
    Abstain(NothingCompleted(), result);
    return result;
  }
  const Presentation& presentation = options.presentation;
  const OverheadSummary summary = SummariseOverhead(overhead.rows);
  table::Table steps = OverheadTable(view, overhead, summary, presentation.verbose);
  if (base::Status sorted = table::SortBy(steps, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(steps, presentation.Limit(kRowsForPeople));
  if (presentation.for_people) AddBlocks(overhead, summary, steps, left_out, result);
  result.data = {{"steps", std::move(steps)},
                 {"median", MedianTable(summary.medians)},
                 {"worst", WorstTable(overhead, summary.worst)},
                 {"left_out", table::Object{{"activities", overhead.n_left_out},
                                            {"gpu_ns", overhead.left_out_ns}}}};
  return result;
}

}  // namespace

base::Result<Output> ComputeOverhead(const AnalysisInput& input, const OverheadOptions& options) {
  return ForEachRank(input, options.selection,
                     [&](const RankView& view) { return ComputeRank(view, options); });
}

}  // namespace layerscope::analysis
