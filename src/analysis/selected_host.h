#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/analysis/selection.h"
#include "src/attribution/steps.h"

namespace layerscope::analysis {

/// What the selection takes of the host, once the rows and steps of `view` are chosen: `row` and
/// `process` are 1 for those that are. All conditions hold at once, so a step is whole as one that
/// was asked for only where nothing narrower was, and a time is all that the host did then only
/// where it is asked for alone.
HostChoice ChooseHost(const Selection& selection, const std::vector<uint8_t>& row,
                      std::vector<uint8_t> process, const RankView& view);

/// Says what the host did in a selection by itself (HostChoice). `modules` and `cut` ask the same,
/// so that a cut reads back to the calls that the whole trace gives.
class SelectedHost {
 public:
  /// `view` must outlive this.
  explicit SelectedHost(const RankView& view)
      : view_(view), steps_(view.trace(), view.attribution().steps) {}

  bool IsWhole(attribution::StepId step) const {
    const std::vector<uint8_t>& whole = view_.host().whole_step;
    return step.index() < whole.size() && whole[step.index()] != 0;
  }
  bool InWholeStep(trace::ThreadId thread, int64_t t_ns) {
    const attribution::StepId step = steps_.Find(thread, t_ns);
    return step.valid() && IsWhole(step);
  }
  /// [start_ns, end_ns] touches the time that is selected.
  bool InTime(trace::ThreadId thread, int64_t start_ns, int64_t end_ns) const;
  bool Holds(trace::ThreadId thread, int64_t start_ns, int64_t end_ns) {
    return InWholeStep(thread, start_ns) || InTime(thread, start_ns, end_ns);
  }

 private:
  const RankView& view_;
  attribution::StepLocator steps_;
};

}  // namespace layerscope::analysis
