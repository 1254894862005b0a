#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/idle_gaps.h"
#include "src/analysis/launch_mode.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"
#include "src/analysis/selection.h"
#include "src/analysis/step_gap.h"

namespace layerscope::analysis {

/// One engine step on one device: the selected activities that were launched in it.
struct StepRow {
  uint32_t step = 0;  ///< index into Attribution::steps
  int64_t index = 0;  ///< what --step selects
  std::string name;
  LabelValue thread;  ///< tid
  std::string phase;  ///< empty = unknown
  attribution::StepFields fields;
  int64_t start_ns = 0;
  int64_t cpu_ns = 0;
  bool has_activities = false;  ///< false: wall and idle are unknown
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t busy_ns = 0;
  int64_t gpu_idle_ns = 0;  ///< in [first, last): the device runs nothing, of this step or another
  int64_t sum_ns = 0;
  int64_t n_activities = 0;
  int64_t n_kernels = 0;
  int64_t n_graph_kernels = 0;  ///< of these: replayed by a graph
  int64_t n_whole_graphs = 0;   ///< graphs recorded without their kernels
  int64_t n_launches = 0;
  EvidenceSums evidence_ns{};
  trace::DeviceId device;  ///< invalid: none, or the CPU
  Place place;
  bool whole = true;  ///< false: the selection cuts through steps, so nothing is known per token

  int64_t wall_ns() const { return last_ns - first_ns; }
  int64_t idle_ns() const { return wall_ns() - busy_ns; }
  StepGap gap() const { return {cpu_ns, busy_ns}; }
  LaunchMode launch_mode() const {
    return LaunchModeOf(n_kernels, n_graph_kernels, n_whole_graphs);
  }
  /// All query tokens, as far as the step's name says.
  std::optional<int64_t> tokens() const;
  std::optional<int64_t> ns_per_token() const;
};

/// Time of the selected activities that belong to no step.
struct OutsideSteps {
  int64_t gpu_ns = 0;
  int64_t kernels = 0;
  int64_t activities = 0;
};

struct StepRows {
  std::vector<StepRow> rows;  ///< by start; a step on several devices has a row for each
  OutsideSteps outside;
  std::vector<DeviceIdle> idle;  ///< of the whole file
  /// Rows whose first activity starts before the last of an earlier row of its device ends.
  int64_t n_overlaps = 0;
};

/// What a selection leaves of a step.
enum class StepScope : uint8_t { kWhole, kCut };
/// kCut for a pass, a layer, a module, a stream or a stretch of time: idle and busy shares, times
/// per token and launches of such a part mean nothing.
StepScope ScopeOf(const Selection& selection);

/// "24 steps"; of several processes "24 steps on each of 2 ranks", or how many on all of them.
std::string StepCountText(const RankView& view);

/// LS_CHECKs that steps and outside add up to the selection's total.
StepRows BuildStepRows(const RankView& view, StepScope scope = StepScope::kWhole);

}  // namespace layerscope::analysis
