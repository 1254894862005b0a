#include "src/replay/capture_choice.h"

#include <algorithm>

namespace layerscope::replay {
namespace {

constexpr int64_t kOtherRank = int64_t{1} << 40;
constexpr int64_t kSmaller = int64_t{1} << 30;
constexpr int64_t kLargestBatch = (int64_t{1} << 29) - 1;

}  // namespace

bool IsOfStep(const WantedCapture& wanted, std::optional<int64_t> batch) {
  if (!batch || (!wanted.batch && !wanted.tokens)) return true;
  return batch == wanted.batch || batch == wanted.tokens;
}

int64_t CaptureDistance(const WantedCapture& wanted, std::optional<int64_t> rank,
                        std::optional<int64_t> batch) {
  const int64_t base = rank && wanted.rank && *rank != *wanted.rank ? kOtherRank : 0;
  const std::optional<int64_t> size = wanted.tokens ? wanted.tokens : wanted.batch;
  if (!size) return base;
  if (!batch) return base + 1;
  if (IsOfStep(wanted, batch)) return base;
  const int64_t from = std::clamp<int64_t>(*size, 0, kLargestBatch);
  const int64_t to = std::clamp<int64_t>(*batch, 0, kLargestBatch);
  return base + (to >= from ? 2 + to - from : kSmaller + from - to);
}

}  // namespace layerscope::replay
