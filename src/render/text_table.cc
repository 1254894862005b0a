#include "src/render/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "src/base/format_number.h"
#include "src/render/display_text.h"
#include "src/render/number_format.h"

namespace layerscope::render {
namespace {

using table::Audience;
using table::Cell;
using table::Column;
using table::Role;

std::string Title(const table::ColumnSpec& spec) {
  if (!spec.title.empty()) return VisibleText(spec.title);
  // The key's unit would say "ns" beside the unit that the column is shown in.
  const bool has_unit = spec.unit == table::Unit::kNanoseconds && spec.name.ends_with("_ns");
  std::string title = VisibleText(has_unit ? spec.name.substr(0, spec.name.size() - 3) : spec.name);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

TextColumn::Kind KindOf(Role role, bool is_number) {
  if (role == Role::kTree) return TextColumn::Kind::kTree;
  if (is_number) return TextColumn::Kind::kNumber;
  return role == Role::kName ? TextColumn::Kind::kName : TextColumn::Kind::kText;
}

TextColumn ShareColumn(const table::ColumnSpec& spec, const std::vector<Cell>& cells) {
  TextColumn column{TextColumn::Kind::kShare, "share", "", spec.priority, {}, {}};
  for (const Cell& cell : cells) {
    const auto* value = std::get_if<int64_t>(&cell);
    column.cells.push_back(value == nullptr ? "-" : base::FormatShare(*value, spec.share_of));
    const double share =
        value == nullptr ? 0 : static_cast<double>(*value) / static_cast<double>(spec.share_of);
    column.shares.push_back(std::clamp(share, 0.0, 1.0));
  }
  return column;
}

bool AllUnknown(const std::vector<Cell>& cells) {
  return std::all_of(cells.begin(), cells.end(),
                     [](const Cell& cell) { return std::holds_alternative<table::Null>(cell); });
}

/// Durations that are read side by side. Totals (wall, busy, own time) compare with each other,
/// statistics of single events with each other, positions on the time line with each other.
enum class TimeGroup { kAlone, kTotal, kStatistic, kPosition };

TimeGroup GroupOf(const table::ColumnSpec& spec) {
  if (spec.unit != table::Unit::kNanoseconds || !spec.name.ends_with("_ns"))
    return TimeGroup::kAlone;
  const auto starts_with_any = [&spec](std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&spec](std::string_view prefix) { return spec.name.starts_with(prefix); });
  };
  if (starts_with_any({"min_", "max_", "mean_", "avg_", "median_", "stddev_"})) {
    return TimeGroup::kStatistic;
  }
  if (starts_with_any({"start_", "end_", "first_", "last_", "ts_"})) return TimeGroup::kPosition;
  return TimeGroup::kTotal;
}

/// A column that people see, with its cells.
struct ShownColumn {
  size_t source = 0;  ///< index into Table::columns
  const table::ColumnSpec* spec = nullptr;
  std::vector<Cell> cells{};
  double largest = 0;
};

/// The value that chooses the unit of a column: the largest of its group, unless that unit would
/// leave less than a hundredth of the column's own largest value. Statistics take a unit early,
/// because a maximum is often far above the rest.
double UnitBasis(const ShownColumn& column, const std::vector<ShownColumn>& all) {
  const TimeGroup group = GroupOf(*column.spec);
  if (group == TimeGroup::kAlone) return 0;
  double basis = 0;
  for (const ShownColumn& other : all) {
    if (GroupOf(*other.spec) == group) basis = std::max(basis, other.largest);
  }
  if (group == TimeGroup::kStatistic) basis /= 10;
  return column.largest < DurationFactor(basis) / 100 ? 0 : basis;
}

/// Without the columns that say nothing here: a past length where no step has one.
std::vector<ShownColumn> ShownColumns(const table::Table& table, size_t n_rows) {
  std::vector<ShownColumn> shown;
  for (size_t at = 0; at < table.columns.size(); ++at) {
    const Column& column = table.columns[at];
    if (column.spec.audience == Audience::kMachines) continue;
    ShownColumn out{at, &column.spec, {}, 0};
    out.cells.reserve(n_rows);
    for (size_t i = 0; i < n_rows; ++i) out.cells.push_back(column.cell(table.RowAt(i)));
    if (n_rows > 0 && AllUnknown(out.cells)) continue;
    out.largest = LargestNumber(out.cells);
    shown.push_back(std::move(out));
  }
  return shown;
}

void AddColumn(const ShownColumn& column, double unit_basis, TextTable& text) {
  const table::ColumnSpec& spec = *column.spec;
  const NumberFormat format(spec.unit, column.cells, unit_basis);
  TextColumn out{
      KindOf(spec.role, format.is_number()), Title(spec), format.unit(), spec.priority, {}, {}};
  out.cells.reserve(column.cells.size());
  for (const Cell& cell : column.cells) out.cells.push_back(format.Text(cell));
  out.note = VisibleText(spec.note);
  out.source = column.source;
  out.keep = spec.role == Role::kRest;
  text.columns.push_back(std::move(out));
  if (spec.role == Role::kShare && spec.share_of > 0) {
    text.columns.push_back(ShareColumn(spec, column.cells));
    text.columns.back().source = column.source;
  }
}

}  // namespace

TextTable BuildTextTable(const table::Table& table) {
  TextTable text;
  text.title = VisibleText(table.title);
  text.n_rows = table.size();
  const std::vector<ShownColumn> shown = ShownColumns(table, text.n_rows);
  for (const ShownColumn& column : shown) AddColumn(column, UnitBasis(column, shown), text);
  if (table.depth) {
    for (size_t i = 0; i < text.n_rows; ++i) text.depths.push_back(table.depth(table.RowAt(i)));
  }
  for (const std::string& note : table.notes) text.notes.push_back(VisibleText(note));
  return text;
}

std::vector<std::string> NotesOf(const std::vector<TextColumn>& columns) {
  std::vector<std::string> notes;
  for (const TextColumn& column : columns) {
    const bool is_new = std::find(notes.begin(), notes.end(), column.note) == notes.end();
    if (!column.note.empty() && is_new) notes.push_back(column.note);
  }
  return notes;
}

}  // namespace layerscope::render
