#pragma once

#include <cstdint>
#include <string>

namespace layerscope::replay {

/// Sums over the pieces of a capture that were laid over one forward; numbers of kernels.
struct ForwardTotal {
  int64_t kernels = 0;  ///< replayed
  int64_t matched = 0;
  int64_t uncertain = 0;
  int64_t agreeing = 0;
  int64_t differences = 0;
  int64_t recorded = 0;
  int64_t missing = 0;
};

/// Why the capture may not be used for this forward (formats/kineto.md, "Withholding"), one clause.
/// Empty: it may.
std::string WhyNot(const ForwardTotal& total);

}  // namespace layerscope::replay
