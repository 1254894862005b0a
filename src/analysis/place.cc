#include "src/analysis/place.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace layerscope::analysis {
namespace {

/// The process of a row; in a file of one process that one, also where the launch is unknown.
trace::ProcessId ProcessOf(const RankView& view, uint32_t row) {
  const trace::ProcessId process = view.attribution().host_process[row];
  const std::vector<trace::ProcessId>& hosts = view.processes().hosts;
  return !process.valid() && hosts.size() == 1 ? hosts.front() : process;
}

/// Processes and devices of a selection as they meet.
class Places {
 public:
  explicit Places(const RankView& view)
      : view_(view),
        used_(view.trace().processes.size(), 0),
        device_of_(view.trace().processes.size()) {
    for (const uint32_t row : view.rows()) Add(ProcessOf(view, row), view.DeviceOf(row));
    for (const uint32_t step : view.steps()) AddProcess(view.ProcessOfStep(step));
  }

  PlaceColumns Columns() const {
    PlaceColumns columns;
    const bool many = std::count(used_.begin(), used_.end(), 1) > 1;
    columns.rank = many && RanksDiffer();
    columns.pid = many && !columns.rank;
    columns.device = several_devices_ && (!many || !device_by_process_);
    return columns;
  }

 private:
  void AddProcess(trace::ProcessId process) {
    if (process.valid()) used_[process.index()] = 1;
  }

  void Add(trace::ProcessId process, trace::DeviceId device) {
    AddProcess(process);
    if (!device.valid()) return;
    if (!first_device_.valid()) first_device_ = device;
    several_devices_ |= device != first_device_;
    if (!process.valid()) {
      device_by_process_ = false;
      return;
    }
    trace::DeviceId& own = device_of_[process.index()];
    if (!own.valid()) own = device;
    device_by_process_ &= own == device;
  }

  bool RanksDiffer() const {
    std::set<int64_t> ranks;
    for (size_t process = 0; process < used_.size(); ++process) {
      if (used_[process] == 0) continue;
      const std::optional<int64_t> rank = view_.processes().rank_of[process];
      if (!rank || !ranks.insert(*rank).second) return false;
    }
    return true;
  }

  const RankView& view_;
  std::vector<uint8_t> used_;               ///< by process: the selection has work of it
  std::vector<trace::DeviceId> device_of_;  ///< by process: the first that it used
  trace::DeviceId first_device_;
  bool several_devices_ = false;
  bool device_by_process_ = true;  ///< every process has one device, and every row a process
};

}  // namespace

Place PlaceAt(const RankView& view, trace::ProcessId process) {
  return {std::monostate(), view.RankLabel(process), view.PidLabel(process), 0,
          view.input().recording};
}

Place PlaceAt(const RankView& view, trace::ProcessId process, trace::DeviceId device) {
  Place place = PlaceAt(view, process);
  place.device = view.DeviceLabel(device);
  return place;
}

Place PlaceOfRow(const RankView& view, uint32_t row) {
  return PlaceAt(view, ProcessOf(view, row), view.DeviceOf(row));
}

PlaceColumns PlacesToShow(const RankView& view) {
  return Places(view).Columns();
}

}  // namespace layerscope::analysis
