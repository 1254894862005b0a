#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace layerscope::attribution {

/// How a column of an activity was obtained, strongest first (DESIGN.md section 3).
enum class Evidence : uint8_t {
  kLaunchCorrelation,
  kGraphNode,
  kCaptureAlignment,
  kEagerAlignment,
  kAnchorKernel,
  kPeriodicity,
  kTemplate,
  kUnresolved,
};
inline constexpr size_t kEvidenceCount = 8;

/// "launch_correlation", "graph_node", …, "unresolved".
std::string_view ToString(Evidence evidence);

/// Why an activity has no module.
enum class Reason : uint8_t {
  kNone,  ///< it has one
  /// Launched by a graph launch outside every module scope; in traces that know their graph nodes,
  /// of a graph and not known to be captured, whether its launch is in the file or not.
  kGraphLaunch,
  kNoLaunch,       ///< no runtime or driver call has its correlation, and it is of no graph
  kOutsideScopes,  ///< its launch is known and lies in no module scope
};
inline constexpr size_t kReasonCount = 4;

/// "graph_launch", "no_launch", "outside_scopes"; "none" for kNone.
std::string_view ToString(Reason reason);

}  // namespace layerscope::attribution
