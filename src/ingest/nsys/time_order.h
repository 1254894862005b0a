#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace layerscope::ingest::nsys {

/// The rows in order of time, rows of one time in the order in which they stand: entry i is the row
/// that comes i-th. Empty when they stand in that order already. n log r for r ascending runs.
std::vector<uint32_t> TimeOrder(const std::vector<int64_t>& start_ns);

/// Brings a column into an order that TimeOrder gave.
template <typename T>
void Reorder(const std::vector<uint32_t>& order, std::vector<T>& column) {
  if (order.empty()) return;
  std::vector<T> ordered;
  ordered.reserve(column.size());
  for (const uint32_t row : order) ordered.push_back(column[row]);
  column = std::move(ordered);
}

}  // namespace layerscope::ingest::nsys
