#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"

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
  int64_t sum_ns = 0;
  int64_t n_activities = 0;
  int64_t n_kernels = 0;
  int64_t n_launches = 0;
  EvidenceSums evidence_ns{};
  Place place;

  int64_t wall_ns() const { return last_ns - first_ns; }
  int64_t idle_ns() const { return wall_ns() - busy_ns; }
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
};

/// LS_CHECKs that steps and outside add up to the selection's total.
StepRows BuildStepRows(const RankView& view);

}  // namespace layerscope::analysis
