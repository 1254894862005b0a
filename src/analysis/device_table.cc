#include "src/analysis/device_table.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "src/analysis/row_table.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

/// A stream, or the device as a whole.
struct PlaceRow {
  LabelValue device;
  LabelValue pid;  ///< nothing: of the device as a whole
  std::string stream;
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t busy_ns = 0;
  std::optional<int64_t> first_ns;  ///< of the device as a whole
  std::optional<int64_t> last_ns;
};

}  // namespace

table::Block DevicesBlock(const RankView& view, const std::vector<DeviceRow>& devices) {
  // One number of a stream in several processes is several streams.
  const bool several = view.processes().many();
  std::vector<PlaceRow> rows;
  table::Table notes;
  std::set<std::string> names;
  for (const DeviceRow& device : devices) {
    rows.push_back({device.device,
                    {},
                    "all",
                    device.n,
                    device.sum_ns,
                    device.busy_ns,
                    device.first_ns,
                    device.last_ns});
    for (const StreamRow& stream : device.streams) {
      const auto* number = std::get_if<int64_t>(&stream.stream);
      const auto* text = std::get_if<std::string_view>(&stream.stream);
      rows.push_back({device.device, several ? stream.pid : LabelValue(),
                      number != nullptr ? fmt::format("{}", *number)
                                        : std::string(text != nullptr ? *text : ""),
                      stream.n, stream.sum_ns, stream.busy_ns, std::nullopt, std::nullopt});
    }
    if (std::string shared = SharedDeviceText(view, device); !shared.empty()) {
      notes.notes.push_back(std::move(shared));
    }
    if (!device.name.empty()) names.insert(device.name);
  }
  if (!names.empty()) {
    notes.notes.push_back(fmt::format("device name: {}", fmt::join(names, ", ")));
  }
  RowTable<PlaceRow> table(std::move(rows));
  table.Add({.name = "device"}, [](const PlaceRow& row) { return ToCell(row.device); })
      .Add({.name = "pid"}, [](const PlaceRow& row) { return ToCell(row.pid); })
      .AddText({.name = "stream"}, &PlaceRow::stream)
      .AddInt(Count("n", "activities"), &PlaceRow::n)
      .AddInt(Nanoseconds("sum_ns", "sum"), &PlaceRow::sum_ns)
      .AddInt(Nanoseconds("busy_ns", "busy"), &PlaceRow::busy_ns)
      .Add(Nanoseconds("first_ns", "first start", 1),
           [](const PlaceRow& row) { return table::CellOrNull(row.first_ns); })
      .Add(Nanoseconds("last_ns", "last end", 1),
           [](const PlaceRow& row) { return table::CellOrNull(row.last_ns); });
  table::Table result = table.Take();
  result.title = "Devices and streams";
  result.notes = std::move(notes.notes);
  return table::TableBlock(std::move(result));
}

}  // namespace layerscope::analysis
