#include "src/replay/resolution.h"

#include <algorithm>
#include <utility>

namespace layerscope::replay {

void PutInPlace(LaunchOutcome& before, LaunchOutcome placed) {
  placed.refusals = std::move(before.refusals);
  placed.withheld = false;
  before = std::move(placed);
}

void Withhold(LaunchOutcome& outcome, attribution::Evidence source, std::string_view path,
              std::string_view reason) {
  const bool known = std::any_of(outcome.refusals.begin(), outcome.refusals.end(),
                                 [&](const Refusal& refusal) { return refusal.source == source; });
  if (outcome.placed() || known) return;
  outcome.refusals.push_back({source, std::string(path), std::string(reason)});
  if (outcome.withheld) return;
  outcome.source = path;
  outcome.withheld = true;
  outcome.reason = reason;
}

}  // namespace layerscope::replay
