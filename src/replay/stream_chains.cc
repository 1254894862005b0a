#include "src/replay/stream_chains.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace layerscope::replay {
namespace {

/// `cudaEventRecord`, `hipStreamWaitEvent`, `cuEventRecordWithFlags`, and so on.
bool IsEventCall(std::string_view name) {
  return name.find("EventRecord") != std::string_view::npos ||
         name.find("StreamWaitEvent") != std::string_view::npos;
}

}  // namespace

StreamChains::StreamChains(const trace::Trace& trace) {
  std::vector<uint8_t> is_event(trace.strings.size(), 0);
  for (uint32_t id = 0; id < is_event.size(); ++id) {
    is_event[id] = IsEventCall(trace.strings[trace::StringId(id)]) ? 1 : 0;
  }
  const trace::Calls& calls = trace.calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (is_event[calls.name[i].index()] == 0) continue;
    events_.emplace_back(calls.thread[i], calls.start_ns[i]);
  }
  std::sort(events_.begin(), events_.end());
}

/// Counted over all threads: a number that grows where an event lies between two launches.
size_t StreamChains::EventsBefore(const NodeLaunch& launch) const {
  const auto at =
      std::upper_bound(events_.begin(), events_.end(), std::pair(launch.thread, launch.start_ns));
  return static_cast<size_t>(at - events_.begin());
}

void StreamChains::Number(std::span<const NodeLaunch> launches, RecordedPiece& piece) const {
  if (events_.empty() || launches.empty()) return;
  using Chain = std::tuple<trace::ThreadId, size_t, trace::StreamId>;
  std::map<Chain, uint32_t> number_of;
  std::map<trace::ThreadId, size_t> first_of_thread;
  bool any_between = false;
  for (size_t i = 0; i < launches.size(); ++i) {
    const size_t events = EventsBefore(launches[i]);
    const auto [first, is_first] = first_of_thread.try_emplace(launches[i].thread, events);
    any_between |= !is_first && first->second != events;
    const auto next = static_cast<uint32_t>(number_of.size() + 1);
    piece.nodes[i].chain =
        number_of.try_emplace(Chain{launches[i].thread, events, launches[i].stream}, next)
            .first->second;
  }
  if (any_between) return;
  for (RecordedNode& node : piece.nodes) node.chain = 0;
}

}  // namespace layerscope::replay
