#include "src/replay/forward_judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/replay/piece_fit.h"
#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {
namespace {

/// The share of kernels that may fit several places. A kernel that is missing leaves its neighbours
/// of the same name open; more than that, and what is missing moves whole layers.
constexpr double kMostOpen = 0.1;
constexpr double kMostOpenInLanes = 0.5;

}  // namespace

std::string WhyNot(const ForwardTotal& total) {
  const auto share = [&](int64_t part) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, total.kernels));
  };
  if (share(total.matched + total.uncertain) < kEnoughAligned) {
    return fmt::format("only {} of {} kernels have a place in the capture",
                       total.matched + total.uncertain, total.kernels);
  }
  // Where both sides have the same kernels nothing is moved; lanes may still leave some open.
  const double open = total.differences == 0 ? kMostOpenInLanes : kMostOpen;
  if (share(total.uncertain) > open) {
    return fmt::format("{} of {} kernels would fit several places in the capture", total.uncertain,
                       total.kernels);
  }
  if (total.agreeing * 2 < total.kernels) {
    return fmt::format(
        "ops and kernels speak for {} of {} places only: equal numbers of kernels "
        "do not make a capture fit",
        total.agreeing, total.kernels);
  }
  if (static_cast<double>(total.missing) > kMostMissing * static_cast<double>(total.recorded)) {
    return fmt::format("{} of {} captured kernels are missing", total.missing, total.recorded);
  }
  return {};
}

}  // namespace layerscope::replay
