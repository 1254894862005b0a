#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/analysis/row_table.h"

namespace layerscope::analysis {

/// Where a row's activities ran: device, rank and pid, for tables of several of them. Null =
/// unknown or several.
struct Place {
  LabelValue device;
  LabelValue rank;
  LabelValue pid;
  size_t input = 0;  ///< which of the run's files, where rows of several are looked at together
  std::string_view recording{};  ///< RankInput::recording; lives as long as the run
};

/// Without a device: null.
Place PlaceAt(const RankView& view, trace::ProcessId process);
Place PlaceAt(const RankView& view, trace::ProcessId process, trace::DeviceId device);
/// The place of an activity. In a file of one process that process, also for activities whose
/// launch is unknown.
Place PlaceOfRow(const RankView& view, uint32_t row);

/// What tells the places of a selection apart: the ranks of several processes, or their pids where
/// ranks do not; the devices, unless each process has its own.
struct PlaceColumns {
  bool device = false;
  bool rank = false;
  bool pid = false;
};
PlaceColumns PlacesToShow(const RankView& view);

/// Adds the column recording.
template <typename Row>
void AddRecording(Place Row::*place, RowTable<Row>& table) {
  table.Add({.name = "recording"}, [place](const Row& row) { return (row.*place).recording; });
}

/// Adds the columns device, rank and pid; people see those that tell rows apart.
template <typename Row>
void AddPlace(const RankView& view, RowTable<Row>& table, Place Row::*place) {
  const auto spec = [](std::string name, bool people) {
    table::ColumnSpec column;
    column.name = std::move(name);
    return people ? column : ForMachines(column);
  };
  const PlaceColumns shown = PlacesToShow(view);
  table.Add(spec("device", shown.device),
            [place](const Row& row) { return ToCell((row.*place).device); });
  table.Add(spec("rank", shown.rank),
            [place](const Row& row) { return ToCell((row.*place).rank); });
  table.Add(spec("pid", shown.pid), [place](const Row& row) { return ToCell((row.*place).pid); });
}

/// Rows are by time, in which the ranks of a run change places at random: of neighbours with one
/// `index` (a step of each rank) rank 0 comes first.
template <typename Row>
void OrderRanks(std::vector<Row>& rows) {
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].index == rows[begin].index) ++end;
    std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                     rows.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Row& a, const Row& b) { return a.place.rank < b.place.rank; });
    begin = end;
  }
}

}  // namespace layerscope::analysis
