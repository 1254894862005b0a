#pragma once

#include <string>
#include <vector>

#include "src/analysis/overhead_medians.h"
#include "src/analysis/overhead_rows.h"
#include "src/analysis/rank_view.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// One row a step. Machines read the lines as a map, people as a column each; both sort by the same
/// columns.
table::Table OverheadTable(const RankView& view, const OverheadRows& overhead,
                           const OverheadSummary& summary, bool verbose);

LineSums SumOf(const std::vector<OverheadRow>& rows);
/// A line's column for people: on a narrow terminal the lines with the least of `sums` give way
/// first, into one column `rest`.
table::ColumnSpec LineColumn(OverheadLine line, const LineSums& sums);

/// One row a phase (or launch mode) and number of requests: `median` of JSON.
table::Table MedianTable(const std::vector<OverheadMedian>& medians);
/// The steps that took longest against their group's median: `worst` of JSON.
table::Table WorstTable(const OverheadRows& overhead, const std::vector<WorstStep>& worst);

/// The lines of one group of the summary with their medians and their shares of its wall, for
/// people.
table::Table GroupTable(const OverheadMedian& group, const OverheadSummary& summary);
/// "* step 17, rank 1: 12.3 ms, 5.10 ms over the median of 24 like it; host_wait +4.90 ms": of
/// groups of at least three. `listed` are the rows that people see.
std::vector<std::string> WorstTexts(const RankView& view, const OverheadRows& overhead,
                                    const OverheadSummary& summary, const table::Table& listed);

}  // namespace layerscope::analysis
