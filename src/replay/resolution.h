#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/attribution/module_graft.h"
#include "src/replay/graph_launches.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// A source that was given and does not fit a graph launch.
struct Refusal {
  attribution::Evidence source;  ///< what it would have been
  std::string path;              ///< may be empty
  std::string reason;            ///< one clause
};

/// What became of one graph launch. Counts are its kernels.
struct LaunchOutcome {
  attribution::Evidence evidence = attribution::Evidence::kUnresolved;
  std::string source;                   ///< path of what was laid over it; may be empty
  bool own_steps = false;               ///< GraphAlignment::own_steps
  std::optional<int64_t> source_batch;  ///< the batch that the recording was made for
  /// Launches of equal `recording` (a number that the resolver chooses, unique among its evidence)
  /// are shown as one graph; -1: those of equal sequence are.
  int64_t recording = -1;
  int64_t pieces = 1;  ///< of the recording
  int64_t matched = 0;
  int64_t mismatched = 0;
  int64_t missing = 0;       ///< recorded nodes that no replayed kernel stands for
  bool withheld = false;     ///< something was given and did not fit
  std::string reason;        ///< why it is withheld, or what is odd; one clause
  bool other_batch = false;  ///< the recording is of another batch size than the step
  double confidence = 0;

  std::vector<Refusal> refusals;  ///< sources that did not fit, strongest first; one a kind

  bool placed() const { return evidence != attribution::Evidence::kUnresolved; }
};

/// A launch that one source places after others were withheld: their reasons are kept.
void PutInPlace(LaunchOutcome& before, LaunchOutcome placed);
/// Says that a source does not fit. The outcome is the first one's, for it is the strongest; later
/// ones are noted.
void Withhold(LaunchOutcome& outcome, attribution::Evidence source, std::string_view path,
              std::string_view reason);

/// The state that the resolvers hand on, strongest first. Each places rows through `graft` (see
/// row_placer.h) under launches that are not placed yet, and says so in `outcomes`.
struct Resolution {
  trace::Trace& trace;
  attribution::Attribution& attribution;
  attribution::ModuleGraft& graft;
  const GraphLaunches& graphs;
  std::vector<LaunchOutcome> outcomes;  ///< by index of graphs.launches

  bool AllPlaced() const {
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [](const LaunchOutcome& outcome) { return outcome.placed(); });
  }
};

}  // namespace layerscope::replay
