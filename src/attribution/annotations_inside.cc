#include "src/attribution/annotations_inside.h"

#include <algorithm>
#include <utility>

namespace layerscope::attribution {

void AnnotationsInside::Add(trace::ProcessId process, int64_t start_ns, int64_t end_ns) {
  entries_.push_back({process, start_ns, end_ns});
}

void AnnotationsInside::Freeze() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.process, a.start_ns) < std::pair(b.process, b.start_ns);
  });
  for (size_t i = entries_.size(); i > 1; --i) {
    const Entry& later = entries_[i - 1];
    Entry& entry = entries_[i - 2];
    if (later.process == entry.process) entry.end_ns = std::min(entry.end_ns, later.end_ns);
  }
}

bool AnnotationsInside::Any(trace::ProcessId process, int64_t start_ns, int64_t end_ns) const {
  const auto first =
      std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return std::pair(entry.process, entry.start_ns) < std::pair(process, start_ns);
      });
  return first != entries_.end() && first->process == process && first->start_ns < end_ns &&
         first->end_ns <= end_ns;
}

}  // namespace layerscope::attribution
