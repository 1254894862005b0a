#include "src/analysis/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/analysis/interval_union.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/timeline_lanes.h"
#include "src/analysis/timeline_slices.h"
#include "src/analysis/timeline_table.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

/// From the first start to the last end of what the views select. Views whose times do not fit are
/// shown by nobody.
TimeSpan SpanOf(const std::vector<RankView>& views) {
  TimeSpan span;
  for (const RankView& view : views) {
    if (!view.times_fit()) continue;
    for (const uint32_t row : view.rows()) {
      span.Add(view.activities().start_ns[row], view.activities().dur_ns[row]);
    }
    for (const uint32_t i : view.steps()) {
      const attribution::Step& step = view.attribution().steps[i];
      span.Add(step.start_ns, step.dur_ns);
    }
  }
  return span;
}

base::Error OutsideOfRun(std::string_view option, int64_t time_ns, const TimeSpan& run) {
  return {base::ErrorCode::kNotFound,
          fmt::format("nothing runs {} {}", option, base::FormatDuration(time_ns)),
          fmt::format("what is selected runs from {} to {}", base::FormatDuration(run.first_ns()),
                      base::FormatDuration(run.last_ns()))};
}

base::Result<TimelineRange> RangeOf(const TimeSpan& run, const TimelineOptions& options) {
  if (options.bins < 1 || options.bins > kMostTimelineBins) {
    return base::Error{
        base::ErrorCode::kUsage,
        fmt::format("--bins {} is not from 1 to {}", options.bins, kMostTimelineBins),
        "a bin is about one pixel: --bins 1000"};
  }
  TimelineRange range;
  range.from_ns = options.selection.from_ns.value_or(run.first_ns());
  range.to_ns = options.selection.to_ns.value_or(std::max(run.last_ns(), run.first_ns() + 1));
  if (range.from_ns >= range.to_ns) {
    // Both given: Select has said so.
    return options.selection.from_ns ? OutsideOfRun("after", range.from_ns, run)
                                     : OutsideOfRun("before", range.to_ns, run);
  }
  int64_t span_ns = 0;
  if (__builtin_sub_overflow(range.to_ns, range.from_ns, &span_ns)) {
    return OutsideOfRun("until", range.to_ns, run);
  }
  range.bin_ns = span_ns / options.bins + (span_ns % options.bins != 0 ? 1 : 0);
  return range;
}

table::Abstention NothingToShow() {
  return {"no_activities", "no kernel, copy, set or op and no step: there is nothing to show",
          "`layerscope info` says what the file holds"};
}

table::RankResult ComputeRank(const RankView& view, const TimelineRange& range,
                              const TimelineOptions& options) {
  const layers::LayerStructure* const structure = view.input().layers;
  Timeline timeline;
  timeline.range = range;
  timeline.lanes = BuildTimelineLanes(view, structure, range);
  timeline.drawn =
      DrawTimeline(std::exchange(timeline.lanes.marks, {}), timeline.lanes.lanes.size(), range);
  table::RankResult result = StartResult(view);
  result.main_table = "slices";
  if (timeline.lanes.lanes.empty()) result.abstained = NothingToShow();
  table::Table lanes = LaneTable(view, timeline);
  if (options.presentation.for_people && lanes.n_rows > 0) {
    table::Table people = lanes;
    people.title = fmt::format("From {} to {}", base::FormatDuration(range.from_ns),
                               base::FormatDuration(range.to_ns));
    people.notes.push_back(fmt::format(
        "busy over time: {} parts of {}; --format json has {}, bins (--bins) of {}", kTimelineCells,
        base::FormatDuration(TimelineCellNs(range)),
        base::FormatCounted(static_cast<int64_t>(timeline.drawn.slices.size()), "slice"),
        base::FormatDuration(range.bin_ns)));
    result.blocks.push_back(table::TableBlock(std::move(people)));
  }
  result.data = {{"from_ns", range.from_ns},
                 {"to_ns", range.to_ns},
                 {"bin_ns", range.bin_ns},
                 {"lanes", std::move(lanes)},
                 {"slices", SliceTable(view, structure, timeline)}};
  return result;
}

}  // namespace

base::Result<Output> ComputeTimeline(const AnalysisInput& input, const TimelineOptions& options) {
  // The range cuts intervals; it does not select by their start as --from and --to of other verbs.
  base::Result<std::vector<RankView>> checked = Select({}, options.selection);
  if (!checked.ok()) return std::move(checked).error();
  Selection lanes = options.selection;
  lanes.from_ns.reset();
  lanes.to_ns.reset();
  base::Result<std::vector<RankView>> views = Select(input, lanes);
  if (!views.ok()) return std::move(views).error();
  base::Result<TimelineRange> range = RangeOf(SpanOf(*views), options);
  if (!range.ok()) return std::move(range).error();
  return ForEachRank(input, lanes, [&](const RankView& view) -> base::Result<table::RankResult> {
    return ComputeRank(view, *range, options);
  });
}

}  // namespace layerscope::analysis
