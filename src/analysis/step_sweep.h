#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/launch_mode.h"
#include "src/analysis/place.h"
#include "src/analysis/step_reduce.h"
#include "src/analysis/step_rows.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// One step of one rank and device, or what it spent in one module. Times are nanoseconds; absent
/// is what does not fit over ranks (RankMeasure).
struct StepSample {
  int64_t index = 0;  ///< StepRow::index
  std::optional<int64_t> batch;
  std::optional<int64_t> past;
  std::string phase;                        ///< empty: unknown
  LaunchMode mode = LaunchMode::kNone;      ///< where the phase is unknown: what tells steps apart
  Place place;                              ///< the recording alone: reduced over ranks
  std::string key;                          ///< the module; empty for whole steps
  int64_t n_ranks = 1;                      ///< of a reduced one: those that have it
  std::optional<int64_t> host_wall_ns = 0;  ///< of whole steps: the annotation's length
  std::optional<int64_t> busy_ns = 0;       ///< of whole steps
  std::optional<int64_t> sum_ns = 0;
  std::optional<int64_t> n_kernels = 0;
};

/// The whole steps. One that launched nothing stands on the device of its rank's other steps, where
/// they have one.
std::vector<StepSample> StepSamples(const std::vector<StepRow>& rows);

/// One sample a step of a recording, over its ranks. A rank with several devices counts once: its
/// device times add up, its host wall is one. Batch, past, phase and mode are those of the first
/// rank that has the step. By recording and step.
std::vector<StepSample> ReduceStepSamples(const std::vector<StepSample>& steps, RankReduce how);

/// The same of modules. Means are over all ranks of the step, a rank without the module counts 0,
/// so that means and sums of modules add up to those of the step (maxima need not). Batch, past,
/// phase and mode are those of `steps`, which ReduceStepSamples gave. By recording and step, then
/// in order of first appearance.
std::vector<StepSample> ReduceModuleSamples(const std::vector<StepSample>& modules,
                                            const std::vector<StepSample>& steps, RankReduce how);

/// What --rank-reduce gives of `--by module`: one row a step (of a recording, where there are
/// several) and module.
table::Table ReducedModules(std::vector<StepSample> modules);

/// The sweep over batch and past length: one row for each batch, past and phase, or launch mode
/// where that is unknown (of a rank and device, where there are several), with `modules` one for
/// each module too, by time. Steps of unknown batch are left out. Means are over all steps of the
/// row's batch and past, so that those of the modules add up to the step's; a step without the
/// module counts 0. A median is a value that occurred.
table::Table SweepTable(const std::vector<StepSample>& steps,
                        const std::vector<StepSample>* modules);

}  // namespace layerscope::analysis
