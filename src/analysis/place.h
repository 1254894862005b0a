#pragma once

#include <string>
#include <utility>

#include "src/analysis/rank_view.h"
#include "src/analysis/row_table.h"

namespace layerscope::analysis {

/// Where a row's activities ran: device, rank and pid, for tables of several of them. Null =
/// unknown or several.
struct Place {
  LabelValue device;
  LabelValue rank;
  LabelValue pid;
};

/// Without a device: null.
Place PlaceAt(const RankView& view, trace::ProcessId process);
Place PlaceAt(const RankView& view, trace::ProcessId process, trace::DeviceId device);
/// The place of an activity. In a file of one process that process, also for activities whose
/// launch is unknown.
Place PlaceOfRow(const RankView& view, uint32_t row);

/// Adds the columns device, rank and pid; people see them only where the trace has several.
template <typename Row>
void AddPlace(const RankView& view, RowTable<Row>& table, Place Row::*place) {
  const auto spec = [](std::string name, bool people) {
    table::ColumnSpec column;
    column.name = std::move(name);
    column.priority = 1;
    return people ? column : ForMachines(column);
  };
  const bool many = view.processes().many();
  table.Add(spec("device", view.many_devices()),
            [place](const Row& row) { return ToCell((row.*place).device); });
  table.Add(spec("rank", many), [place](const Row& row) { return ToCell((row.*place).rank); });
  table.Add(spec("pid", many), [place](const Row& row) { return ToCell((row.*place).pid); });
}

}  // namespace layerscope::analysis
