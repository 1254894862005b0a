#include "src/analysis/device_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "src/analysis/interval_union.h"
#include "src/analysis/place.h"

namespace layerscope::analysis {
namespace {

struct StreamSums {
  StreamRow row;
  IntervalUnion busy;
};

std::string TextOf(const LabelValue& label) {
  if (const auto* number = std::get_if<int64_t>(&label)) return fmt::format("{}", *number);
  const auto* text = std::get_if<std::string_view>(&label);
  return std::string(text != nullptr ? *text : "");
}

/// What deviceProperties say of each device number; of two entries the first.
std::map<int64_t, std::string_view> NamesOf(const trace::Trace& trace) {
  std::map<int64_t, std::string_view> names;
  for (const trace::Metadata::DeviceProperties& properties : trace.metadata.devices) {
    names.try_emplace(properties.id, properties.name);
  }
  return names;
}

std::string NameOf(const RankView& view, trace::DeviceId device,
                   const std::map<int64_t, std::string_view>& names) {
  if (!device.valid()) return {};
  const trace::Label& label = view.trace().devices[device.index()].id;
  const auto name = names.find(label.number);
  return label.text.valid() || name == names.end() ? std::string() : std::string(name->second);
}

/// The rows [begin, end) of one device, by start.
DeviceRow SumDevice(const RankView& view, const uint32_t* begin, const uint32_t* end) {
  DeviceRow device;
  const trace::DeviceId id = view.DeviceOf(*begin);
  device.device = view.DeviceLabel(id);
  std::map<size_t, StreamSums> streams;
  std::set<trace::ProcessId> processes;
  IntervalUnion busy;
  TimeSpan span;
  for (const uint32_t* row = begin; row != end; ++row) {
    const int64_t start_ns = view.activities().start_ns[*row];
    const int64_t dur_ns = view.activities().dur_ns[*row];
    device.n += view.CountOf(*row);
    device.sum_ns += dur_ns;
    busy.Add(start_ns, dur_ns);
    span.Add(start_ns, dur_ns);
    const trace::StreamId stream = view.activities().stream[*row];
    if (!stream.valid()) continue;
    StreamSums& sums = streams[stream.index()];
    const trace::ProcessId process = view.attribution().host_process[*row];
    if (process.valid()) processes.insert(process);
    if (sums.row.n == 0) sums.row.pid = PlaceOfRow(view, *row).pid;
    sums.row.stream = view.LabelOf(view.trace().streams[stream.index()].id);
    ++sums.row.n;
    sums.row.sum_ns += dur_ns;
    sums.busy.Add(start_ns, dur_ns);
  }
  for (const trace::ProcessId process : processes) device.pids.push_back(view.PidLabel(process));
  device.busy_ns = busy.busy_ns();
  device.first_ns = span.first_ns();
  device.last_ns = span.last_ns();
  for (auto& [id_unused, sums] : streams) {
    sums.row.busy_ns = sums.busy.busy_ns();
    device.streams.push_back(sums.row);
  }
  std::stable_sort(device.streams.begin(), device.streams.end(),
                   [](const StreamRow& a, const StreamRow& b) { return a.stream < b.stream; });
  return device;
}

}  // namespace

std::vector<DeviceRow> BuildDeviceRows(const RankView& view) {
  std::vector<DeviceRow> devices;
  const std::vector<uint32_t> rows = view.RowsByDeviceAndStart();
  const std::map<int64_t, std::string_view> names = NamesOf(view.trace());
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && view.DeviceOf(rows[end]) == view.DeviceOf(rows[begin])) ++end;
    devices.push_back(SumDevice(view, rows.data() + begin, rows.data() + end));
    devices.back().name = NameOf(view, view.DeviceOf(rows[begin]), names);
    begin = end;
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const DeviceRow& a, const DeviceRow& b) { return a.device < b.device; });
  return devices;
}

std::string SharedDeviceText(const RankView& view, const DeviceRow& device) {
  if (device.pids.size() < 2) return {};
  std::vector<std::string> pids;
  for (const LabelValue& pid : device.pids) pids.push_back(TextOf(pid));
  return fmt::format(
      "{} processes (pid {}) name device {}: one GPU that they share, or one each under one "
      "number; "
      "busy, idle and overlap are of all of them, --pid{} shows one",
      pids.size(), fmt::join(pids, ", "), TextOf(device.device),
      view.processes().rank_of[view.processes().hosts.front().index()] ? " or --rank" : "");
}

std::string DeviceNames(const trace::Trace& trace) {
  std::set<std::string> names;
  for (const trace::Metadata::DeviceProperties& device : trace.metadata.devices) {
    if (!device.name.empty()) names.insert(device.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace layerscope::analysis
