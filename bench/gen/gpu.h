#pragma once
// When enqueued work runs: streams in order, dependent launches overlapping their predecessor.

#include <algorithm>
#include <cstdint>
#include <map>

#include "bench/gen/random.h"

namespace layerscope::gen {

class Gpu {
 public:
  explicit Gpu(Random* random) : random_(random) {}

  struct Slot {
    int64_t start_ns;
    int64_t duration_ns;
  };

  // Work enqueued at `ready_ns` (a graph's nodes all share one) that takes `work_ns`.
  Slot Enqueue(int64_t stream, int64_t ready_ns, int64_t work_ns, bool overlaps) {
    Stream& s = streams_[stream];
    const int64_t earliest = ready_ns + random_->Range(2200, 4800);
    int64_t start_ns = std::max(earliest, s.end_ns + random_->Range(640, 1400));
    if (overlaps && s.end_ns > s.start_ns + 1) {
      // The kernel starts while its predecessor drains and waits for it: its duration holds both.
      const int64_t lead_ns = std::min((s.end_ns - s.start_ns) / 2, random_->Range(800, 4000));
      start_ns = std::max(earliest, s.end_ns - lead_ns);
    }
    const int64_t end_ns = std::max(start_ns, s.end_ns) + work_ns;
    s = {start_ns, end_ns};
    return {start_ns, end_ns - start_ns};
  }

  // When the work of one stream has ended.
  int64_t EndOf(int64_t stream) const {
    const auto found = streams_.find(stream);
    return found == streams_.end() ? 0 : found->second.end_ns;
  }

  // When all work enqueued so far has ended.
  int64_t IdleAt() const {
    int64_t end_ns = 0;
    for (const auto& [id, stream] : streams_) end_ns = std::max(end_ns, stream.end_ns);
    return end_ns;
  }

 private:
  struct Stream {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  Random* random_;
  std::map<int64_t, Stream> streams_;
};

}  // namespace layerscope::gen
