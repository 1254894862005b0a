#include "src/analysis/place.h"

namespace layerscope::analysis {

Place PlaceAt(const RankView& view, trace::ProcessId process) {
  return {std::monostate(), view.RankLabel(process), view.PidLabel(process)};
}

Place PlaceAt(const RankView& view, trace::ProcessId process, trace::DeviceId device) {
  Place place = PlaceAt(view, process);
  place.device = view.DeviceLabel(device);
  return place;
}

Place PlaceOfRow(const RankView& view, uint32_t row) {
  trace::ProcessId process = view.attribution().host_process[row];
  const std::vector<trace::ProcessId>& hosts = view.processes().hosts;
  if (!process.valid() && hosts.size() == 1) process = hosts.front();
  return PlaceAt(view, process, view.DeviceOf(row));
}

}  // namespace layerscope::analysis
