#include "src/replay/replayed_sequence.h"

#include <algorithm>

#include "src/replay/node_kind.h"

namespace layerscope::replay {

Element ReplayedElement(const trace::Trace& trace, uint32_t row, uint32_t lane) {
  const trace::StringId name = trace.activities.name[row];
  NodeKind kind = NodeKind::kKernel;
  if (trace.activities.kind[row] == trace::ActivityKind::kMemcpy) kind = NodeKind::kCopy;
  if (trace.activities.kind[row] == trace::ActivityKind::kMemset) kind = NodeKind::kSet;
  if (kind == NodeKind::kKernel) kind = KindOfName(trace.strings[name]);
  if (kind == NodeKind::kKernel) return {static_cast<uint32_t>(name.index()), lane, false};
  return {kind == NodeKind::kCopy ? kCopySymbol : kSetSymbol, lane, true};
}

ReplayedSequence ReadReplayed(const trace::Trace& trace, const GraphLaunch& launch) {
  const LaneRows lanes = RowsByLane(trace, launch);
  ReplayedSequence sequence;
  sequence.one_lane = lanes.begin.size() <= 2;
  for (uint32_t lane = 0; lane + 1 < lanes.begin.size(); ++lane) {
    for (uint32_t i = lanes.begin[lane]; i < lanes.begin[lane + 1]; ++i) {
      const uint32_t row = lanes.rows[i];
      const Element element = ReplayedElement(trace, row, lane);
      if (!element.is_copy) sequence.sorted.push_back(element.symbol);
      sequence.elements.push_back(element);
      sequence.names.push_back(trace.activities.name[row]);
    }
  }
  std::sort(sequence.sorted.begin(), sequence.sorted.end());
  sequence.n_kernels = static_cast<int64_t>(sequence.sorted.size());
  return sequence;
}

}  // namespace layerscope::replay
