#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/step_reduce.h"
#include "src/table/result.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// Tables of steps as people see them.

/// Rows of a table that may be long, without -n.
inline constexpr int64_t kStepRowsForPeople = 30;

void HideColumn(std::string_view name, table::Table& table);
/// The model itself has an empty path in the column `key`; people see a word.
void ShowModelPath(table::Table& table);

/// Rows of a known past length before those of none, otherwise in their order, and a note that says
/// what these are, where a table has both.
void PutMarkedFirst(table::Table& table);

/// A sweep over batch and past length, without the gaps where the host runs ahead of the device.
table::Block SweepBlock(table::Table sweep, const Presentation& presentation);

/// The tables of `reduced` (steps, sweep, rows); the sweep where `any_past` length is known.
std::vector<table::Block> ReducedStepBlocks(const table::Object& reduced, RankReduce rank_reduce,
                                            const Presentation& presentation, bool any_past);

}  // namespace layerscope::analysis
