#include "src/ingest/nsys/time_order.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace layerscope::ingest::nsys {
namespace {

/// Where each ascending run begins, and the end.
std::vector<size_t> Runs(const std::vector<int64_t>& times) {
  std::vector<size_t> begins{0};
  for (size_t row = 1; row < times.size(); ++row) {
    if (times[row] < times[row - 1]) begins.push_back(row);
  }
  begins.push_back(times.size());
  return begins;
}

}  // namespace

std::vector<uint32_t> TimeOrder(const std::vector<int64_t>& start_ns) {
  std::vector<size_t> begins = Runs(start_ns);
  if (begins.size() <= 2) return {};
  std::vector<uint32_t> order(start_ns.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<uint32_t> merged(start_ns.size());
  const auto earlier = [&start_ns](uint32_t a, uint32_t b) { return start_ns[a] < start_ns[b]; };
  // Neighbouring runs are merged, two into one, until one is left. Of equal times std::merge takes
  // the left run's first.
  while (begins.size() > 2) {
    std::vector<size_t> next;
    for (size_t run = 0; run + 1 < begins.size(); run += 2) {
      next.push_back(begins[run]);
      const auto at = [&order](size_t row) { return order.begin() + static_cast<ptrdiff_t>(row); };
      const size_t middle = begins[run + 1];
      const size_t end = run + 2 < begins.size() ? begins[run + 2] : middle;
      std::merge(at(begins[run]), at(middle), at(middle), at(end),
                 merged.begin() + static_cast<ptrdiff_t>(begins[run]), earlier);
    }
    next.push_back(start_ns.size());
    begins = std::move(next);
    std::swap(order, merged);
  }
  return order;
}

}  // namespace layerscope::ingest::nsys
