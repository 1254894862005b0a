#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// A time in which a device runs nothing, between two of its activities: [start, end).
struct IdleGap {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t length_ns() const { return end_ns - start_ns; }
  int64_t middle_ns() const { return start_ns + length_ns() / 2; }
};

/// The gaps of one device from its first activity to its last, by time.
class DeviceIdle {
 public:
  explicit DeviceIdle(trace::DeviceId device) : device_(device) {}
  /// Activities come by start.
  void AddActivity(int64_t start_ns, int64_t dur_ns);

  trace::DeviceId device() const { return device_; }
  const std::vector<IdleGap>& gaps() const { return gaps_; }
  int64_t total_ns() const { return total_ns_; }
  /// How long the device runs nothing in [from, to), both between its first start and last end.
  int64_t IdleIn(int64_t from_ns, int64_t to_ns) const { return Before(to_ns) - Before(from_ns); }

 private:
  int64_t Before(int64_t t_ns) const;

  trace::DeviceId device_;
  bool started_ = false;
  int64_t end_ns_ = 0;  ///< last end so far
  int64_t total_ns_ = 0;
  std::vector<IdleGap> gaps_;
  std::vector<int64_t> before_ns_;  ///< by gap: idle time before it
};

/// The idle time of every device, by device, over all activities of the trace, whatever is
/// selected. `selected` is view.RowsByDeviceAndStart(), so that a view of all rows is sorted once.
std::vector<DeviceIdle> FindIdle(const RankView& view, const std::vector<uint32_t>& selected);

}  // namespace layerscope::analysis
