#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/analysis/group_by.h"
#include "src/analysis/rank_view.h"
#include "src/attribution/step_name.h"

namespace layerscope::document {

/// What a request did in steps, or where no step says a phase in passes, of one phase.
struct PhaseFigures {
  int64_t steps = 0;
  int64_t gpu_ns = 0;
  int64_t kernels = 0;
  /// Time of the host, as RequestFigures::cpu_ns, that began in its steps; absent for passes.
  std::optional<int64_t> cpu_ns;
  int64_t wall_ns = 0;  ///< of each step or pass from its first to its last activity, added up
  std::optional<int64_t> tokens;  ///< absent where a step does not say them
};

inline constexpr size_t kPhaseCount = 6;

/// The sums of one request. GPU times are kernels, copies and sets; in a CPU-only trace self times
/// of ops, as `modules` has them.
struct RequestFigures {
  int64_t gpu_ns = 0;
  int64_t kernel_ns = 0;
  int64_t kernels = 0;
  /// Time of the host in modules or ops: the calls of the outermost modules, and what of the
  /// outermost ops lies outside of these, over all threads.
  int64_t cpu_ns = 0;
  int64_t cpu_outside_modules_ns = 0;  ///< the part of it that no module explains
  int64_t wall_ns = 0;  ///< from the first start to the last end of an activity (CPU-only: an op)
  std::string phase_source;  ///< "steps", "passes"; empty: nothing says a phase
  std::array<PhaseFigures, kPhaseCount> phases{};  ///< by attribution::Phase
  int64_t outside_phases_ns = 0;                   ///< GPU time in no phase, or an unknown one
  std::optional<int64_t> outside_phases_cpu_ns;    ///< the same of cpu_ns; absent where phases are
                                                   ///< passes, which have no time of the host
};

/// Sums a whole trace: `view` selects all. Times must fit (RankView::times_fit).
RequestFigures FiguresOf(const analysis::RankView& view);

/// "compiled" where graphs are replayed or compiled regions ran, else "eager"; empty where the
/// trace shows no host that would tell. Of one request; several may differ.
std::string_view ModeOf(const analysis::RankView& view);

}  // namespace layerscope::document
