#include "src/replay/burst.h"

#include <algorithm>
#include <vector>

#include "src/base/checked_sum.h"

namespace layerscope::replay {
namespace {

// burst.h has the reasons.
constexpr size_t kFewKernels = 8;
constexpr int64_t kLeastGap_ns = 200;
constexpr int64_t kMostOverlap = 4;

bool IsBurstOnStream(const trace::Activities& all, std::span<const uint32_t> rows) {
  if (rows.size() < kFewKernels) return false;
  const int64_t span_ns = base::AddClamped(all.start_ns[rows.back()], -all.start_ns[rows[0]]);
  const auto n = static_cast<int64_t>(rows.size());
  if (span_ns < (n - 1) * kLeastGap_ns) return true;
  int64_t sum_ns = 0;
  for (const uint32_t row : rows.first(rows.size() - 1)) {
    sum_ns = base::AddClamped(sum_ns, std::max<int64_t>(0, all.dur_ns[row]));
  }
  return sum_ns / kMostOverlap > span_ns;
}

}  // namespace

bool IsBurst(const trace::Trace& trace, std::span<const uint32_t> rows) {
  const trace::Activities& all = trace.activities;
  std::vector<uint32_t> kernels;
  for (const uint32_t row : rows) {
    if (all.kind[row] == trace::ActivityKind::kKernel) kernels.push_back(row);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](uint32_t a, uint32_t b) { return all.stream[a] < all.stream[b]; });
  for (size_t begin = 0; begin < kernels.size();) {
    size_t end = begin + 1;
    while (end < kernels.size() && all.stream[kernels[end]] == all.stream[kernels[begin]]) ++end;
    if (IsBurstOnStream(all, std::span(kernels).subspan(begin, end - begin))) return true;
    begin = end;
  }
  return false;
}

}  // namespace layerscope::replay
