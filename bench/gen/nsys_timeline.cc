#include "bench/gen/nsys_timeline.h"

#include <algorithm>

namespace layerscope::gen {

void NsysTimeline::AddByHost(int64_t from_ns, int64_t to_ns, NsysLines* lines) {
  while (host_.size() > 1 && host_[1].at_ns <= from_ns) host_.pop_front();
  for (size_t i = 0; i < host_.size() && from_ns < to_ns; ++i) {
    const bool last = i + 1 == host_.size();
    const int64_t until_ns = last ? to_ns : std::min(to_ns, host_[i + 1].at_ns);
    if (until_ns <= from_ns) continue;
    (*lines)[static_cast<size_t>(host_[i].line)] += until_ns - from_ns;
    from_ns = until_ns;
  }
}

NsysLines NsysTimeline::Take(int64_t from_ns, int64_t to_ns) {
  NsysLines lines{};
  while (!tiles_.empty() && tiles_.front().start_ns < to_ns) {
    Tile& tile = tiles_.front();
    const int64_t start_ns = std::max(tile.start_ns, from_ns);
    const int64_t end_ns = std::min(tile.end_ns, to_ns);
    if (end_ns > start_ns) {
      if (tile.line == NsysLine::kByHost) {
        AddByHost(start_ns, end_ns, &lines);
      } else {
        lines[static_cast<size_t>(tile.line)] += end_ns - start_ns;
      }
    }
    if (tile.end_ns > to_ns) {
      tile.start_ns = to_ns;
      break;
    }
    tiles_.pop_front();
  }
  return lines;
}

}  // namespace layerscope::gen
