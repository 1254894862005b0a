#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/launch_mode.h"
#include "src/analysis/overhead_lines.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"
#include "src/analysis/step_gap.h"

namespace layerscope::analysis {

/// One step of one process. Times are in nanoseconds.
struct OverheadRow {
  uint32_t step = 0;  ///< index into Attribution::steps
  int64_t index = 0;  ///< what --step selects
  std::string_view name;
  attribution::Phase phase = attribution::Phase::kUnknown;
  std::optional<int64_t> requests;
  Place place;
  int64_t start_ns = 0;      ///< of the annotation
  int64_t from_ns = 0;       ///< the window is [from, from + wall)
  int64_t wall_ns = 0;       ///< 0: nothing of the step completed after the steps before it
  bool is_first = false;     ///< of its process to complete anything: from its annotation's start
  int64_t host_wall_ns = 0;  ///< length of the annotation
  int64_t busy_ns = 0;       ///< union of the step's own activities over the devices of its process
  int64_t n_activities = 0;
  int64_t n_kernels = 0;        ///< whole graphs are none
  int64_t n_graph_kernels = 0;  ///< of these: launched by a graph
  int64_t n_whole_graphs = 0;
  LineSums lines;  ///< sum to wall_ns

  StepGap gap() const { return {host_wall_ns, busy_ns}; }
  LaunchMode launch_mode() const {
    return LaunchModeOf(n_kernels, n_graph_kernels, n_whole_graphs);
  }
};

struct OverheadRows {
  std::vector<OverheadRow> rows;  ///< the view's steps, by start
  bool any_completion = false;    ///< some step of the file, selected or not, completed something
  /// Activities that no process is known to have launched, in a file of several.
  int64_t n_left_out = 0;
  int64_t left_out_ns = 0;
};

/// The budget of every selected step. Windows, busy and idle are of all steps and activities of a
/// process, whatever is selected; with `device` (as written), of its activities on that device.
/// n log n in activities, steps and calls; LS_CHECKs that each row's lines sum to its wall.
OverheadRows BuildOverheadRows(const RankView& view, const std::optional<std::string>& device = {});

}  // namespace layerscope::analysis
