#include "src/analysis/idle_gaps.h"

#include <algorithm>

namespace layerscope::analysis {

void DeviceIdle::AddActivity(int64_t start_ns, int64_t dur_ns) {
  const int64_t end_ns = start_ns + std::max<int64_t>(dur_ns, 0);
  if (started_ && start_ns > end_ns_) {
    gaps_.push_back({end_ns_, start_ns});
    before_ns_.push_back(total_ns_);
    total_ns_ += gaps_.back().length_ns();
  }
  end_ns_ = started_ ? std::max(end_ns_, end_ns) : end_ns;
  started_ = true;
}

int64_t DeviceIdle::Before(int64_t t_ns) const {
  const auto after = std::partition_point(
      gaps_.begin(), gaps_.end(), [t_ns](const IdleGap& gap) { return gap.start_ns < t_ns; });
  if (after == gaps_.begin()) return 0;
  const IdleGap& gap = *(after - 1);
  return before_ns_[static_cast<size_t>(after - gaps_.begin()) - 1] + std::min(t_ns, gap.end_ns) -
         gap.start_ns;
}

std::vector<DeviceIdle> FindIdle(const RankView& view, const std::vector<uint32_t>& selected) {
  std::vector<DeviceIdle> devices;
  const auto add = [&](const std::vector<uint32_t>& rows) {
    for (const uint32_t row : rows) {
      const trace::DeviceId device = view.DeviceOf(row);
      if (devices.empty() || devices.back().device() != device) devices.emplace_back(device);
      devices.back().AddActivity(view.activities().start_ns[row], view.activities().dur_ns[row]);
    }
  };
  if (view.selects_all()) {
    add(selected);
  } else {
    add(RankView(view.input(), view.rules()).RowsByDeviceAndStart());
  }
  return devices;
}

}  // namespace layerscope::analysis
