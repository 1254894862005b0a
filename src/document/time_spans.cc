#include "src/document/time_spans.h"

#include <algorithm>

namespace layerscope::document {

void TimeSpans::Add(int64_t start_ns, int64_t end_ns) {
  spans_.emplace_back(start_ns, std::max(start_ns, end_ns));
}

void TimeSpans::Freeze() {
  std::sort(spans_.begin(), spans_.end());
  size_t n = 0;
  for (const std::pair<int64_t, int64_t>& span : spans_) {
    if (n > 0 && span.first <= spans_[n - 1].second) {
      spans_[n - 1].second = std::max(spans_[n - 1].second, span.second);
    } else {
      spans_[n++] = span;
    }
  }
  spans_.resize(n);
}

bool TimeSpans::Overlaps(int64_t start_ns, int64_t end_ns) const {
  // The spans are apart, so their ends are in order too.
  const auto span = std::lower_bound(
      spans_.begin(), spans_.end(), start_ns,
      [](const std::pair<int64_t, int64_t>& s, int64_t t_ns) { return s.second < t_ns; });
  return span != spans_.end() && span->first <= std::max(start_ns, end_ns);
}

}  // namespace layerscope::document
