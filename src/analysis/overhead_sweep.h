#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "src/analysis/merged_intervals.h"
#include "src/analysis/overhead_lines.h"
#include "src/analysis/overhead_windows.h"

namespace layerscope::analysis {

/// An activity as the sweep sees it.
struct SweptActivity {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  OverheadLine line = OverheadLine::kCompute;  ///< kCompute, kExposedComm or kMemcpy
  bool has_launch = false;
  bool after_own_graph = false;  ///< an earlier activity belongs to the same graph launch
  int64_t launch_end_ns = 0;
  /// When the launching thread synchronises; null: never.
  const MergedIntervals* waits = nullptr;
};

/// Distributes the time of one process over the lines of the windows that it lies in. Activities
/// come by start (equal starts in file order); windows are disjoint and rise in time.
class OverheadSweep {
 public:
  /// `annotations`: the time inside a step's annotation. All arguments must outlive this.
  OverheadSweep(std::span<const StepWindow> windows, const MergedIntervals& annotations);

  void Add(const SweptActivity& activity);
  /// The lines of each window; what follows the last activity belongs to none.
  std::vector<LineSums> Finish();

 private:
  void AdvanceTo(int64_t to_ns, const SweptActivity* next);
  void AddIdle(int64_t from_ns, int64_t to_ns, const SweptActivity& next);
  void AddIdleOfHost(size_t window, int64_t from_ns, int64_t to_ns, const SweptActivity& next);
  template <typename OnPart>
  void CutAtWindows(int64_t from_ns, int64_t to_ns, OnPart on_part);
  void AddTo(OverheadLine line, int64_t from_ns, int64_t to_ns);

  std::span<const StepWindow> windows_;
  const MergedIntervals& annotations_;
  std::vector<LineSums> lines_;
  size_t at_ = 0;         ///< the first window that ends after the last time asked for
  bool started_ = false;  ///< an activity has begun
  int64_t now_ns_;        ///< all before it is distributed
  LineSums busy_until_;   ///< by line of an activity: the last end so far
};

}  // namespace layerscope::analysis
