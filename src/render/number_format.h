#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/table/column.h"

namespace layerscope::render {

/// How the cells of one column are written for people. All durations (or sizes) of a column share
/// one unit, chosen by the largest of them, and one number of decimals, so that the digits line up
/// and the unit stands once, in the heading. A value that is not zero is never written as zero:
/// "<0.001".
class NumberFormat {
 public:
  /// `unit_basis`: choose the unit of measure by this value instead of by the largest cell, so that
  /// columns which are read together share it; 0 = by the cells.
  NumberFormat(table::Unit unit, const std::vector<table::Cell>& cells, double unit_basis = 0);

  /// "ns", "us", "ms", "s", "B", "KiB", …; empty when numbers stand for themselves.
  const std::string& unit() const { return scale_.unit; }
  /// Whether the known cells are numbers: they are aligned on the right.
  bool is_number() const { return is_number_; }
  /// The text of a cell, made visible (VisibleText); "-" for unknown, "yes" and "no", lists with
  /// commas. Maps: shares of their sum where they hold durations ("launch_correlation 97.2 %,
  /// unresolved 2.8 %"), else "name count, …".
  std::string Text(const table::Cell& cell) const;

 private:
  struct Scale {
    std::string unit{};
    double factor = 1;
    int decimals = 0;
  };
  static Scale ScaleOf(table::Unit unit, double basis, double largest);
  std::string Scaled(double value) const;
  std::string IntText(int64_t value) const;
  std::string MapText(const table::CellMap& map) const;

  table::Unit unit_;
  Scale scale_{};
  bool is_number_ = true;
};

/// The largest magnitude among the numbers of a column.
double LargestNumber(const std::vector<table::Cell>& cells);

/// The value above which another unit of time is chosen: 1e3 (us), 1e6 (ms), 1e9 (s), or 1 (ns).
double DurationFactor(double ns);

/// A value of a unit by itself: "3.21 ms", "1.5 MiB", "1,234", "12.3 %".
std::string UnitText(table::Unit unit, int64_t value);

}  // namespace layerscope::render
