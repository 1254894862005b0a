#include "src/attribution/evidence.h"

namespace layerscope::attribution {

std::string_view ToString(Evidence evidence) {
  constexpr std::array<std::string_view, kEvidenceCount> kNames = {
      "launch_correlation", "graph_node",  "capture_alignment", "eager_alignment",
      "anchor_kernel",      "periodicity", "template",          "unresolved"};
  return kNames[static_cast<size_t>(evidence)];
}

std::string_view ToString(Reason reason) {
  constexpr std::array<std::string_view, kReasonCount> kNames = {"none", "graph_launch",
                                                                 "no_launch", "outside_scopes"};
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace layerscope::attribution
