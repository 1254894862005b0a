#include "src/document/stream_rows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace layerscope::document {

std::vector<StreamRows> RowsByStream(const trace::Trace& trace, std::span<const uint32_t> chosen) {
  const trace::Activities& activities = trace.activities;
  std::map<std::pair<trace::ProcessId, trace::StreamId>, std::vector<uint32_t>> rows_of;
  for (const uint32_t row : chosen) {
    rows_of[{activities.process[row], activities.stream[row]}].push_back(row);
  }
  std::vector<StreamRows> streams;
  for (auto& [key, rows] : rows_of) {
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return activities.start_ns[a] < activities.start_ns[b];
    });
    streams.push_back({key.first, key.second, std::move(rows)});
  }
  return streams;
}

}  // namespace layerscope::document
