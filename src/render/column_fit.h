#pragma once

#include <vector>

#include "src/render/text_table.h"

namespace layerscope::render {

/// How wide each column of a table is shown.
struct ColumnFit {
  static constexpr int kGap = 2;  ///< cells between columns
  std::vector<int> widths{};      ///< by column; 0 = hidden
  int bar_width = 0;              ///< cells of the bar of the first share column; 0 = no bar
};

/// Fits a table into `width` cells (0 = no limit). `natural` holds the cells that each column needs
/// for its heading and its longest cell, without a bar. What does not fit gives way in this order:
/// the middle of names (down to a readable length), the bar, columns of the largest priority from
/// the right, then further columns from the right. The first column, names of priority 0 and
/// columns to keep stay.
ColumnFit FitColumns(const std::vector<TextColumn>& columns, const std::vector<int>& natural,
                     int width);

}  // namespace layerscope::render
