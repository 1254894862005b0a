#include "src/render/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "src/render/column_fit.h"
#include "src/render/display_text.h"
#include "src/render/text_table.h"
#include "src/render/tree_guides.h"

namespace layerscope::render {
namespace {

/// A bar of eighths of a cell.
std::string BarText(double share, int width) {
  static constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                               "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::lround(share * width * 8));
  return Repeated("█", eighths / 8) + std::string(kEighths[static_cast<size_t>(eighths % 8)]);
}

std::string WithoutTrailingSpaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The table with the parts `folded` (indices of columns) as one column behind all others, so that
/// what is shown still sums to the whole.
table::Table WithRest(const table::Table& table, const std::vector<size_t>& folded) {
  table::Table with_rest = table;
  std::vector<table::Column> parts;
  std::vector<std::string_view> titles;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (std::find(folded.begin(), folded.end(), i) == folded.end()) continue;
    parts.push_back(table.columns[i]);
    titles.emplace_back(table.columns[i].spec.title);
    with_rest.columns[i].spec.audience = table::Audience::kMachines;
  }
  table::Column rest;
  rest.spec = {.name = "rest_ns",
               .title = "rest",
               .unit = parts.front().spec.unit,
               .role = table::Role::kRest,
               .note = fmt::format("rest: {}", fmt::join(titles, " + "))};
  rest.cell = [parts](size_t row) {
    int64_t sum = 0;
    for (const table::Column& part : parts) {
      const table::Cell cell = part.cell(row);
      if (const auto* value = std::get_if<int64_t>(&cell)) sum += *value;
    }
    return table::Cell(sum);
  };
  with_rest.columns.push_back(std::move(rest));
  return with_rest;
}

class TableLines {
 public:
  TableLines(TextTable text, int width, const Style& style)
      : text_(std::move(text)), style_(style), width_(width) {
    const auto is_share = [](const TextColumn& c) { return c.kind == TextColumn::Kind::kShare; };
    bar_column_ = static_cast<size_t>(
        std::find_if(text_.columns.begin(), text_.columns.end(), is_share) - text_.columns.begin());
    ChooseGuides();
    fit_ = FitColumns(text_.columns, NaturalWidths(), width);
  }

  /// The columns without room, as indices into Table::columns.
  std::vector<size_t> Hidden() const {
    std::vector<size_t> hidden;
    for (size_t i = 0; i < text_.columns.size(); ++i) {
      if (fit_.widths[i] == 0) hidden.push_back(text_.columns[i].source);
    }
    return hidden;
  }

  std::string Render() const {
    std::string out = text_.title.empty() ? "" : style_.Bold(text_.title) + '\n';
    if (text_.n_rows == 0) {
      out += style_.Dim("(no rows)") + '\n';
    } else if (!text_.columns.empty()) {
      out += Heading() + '\n' + style_.Dim(Repeated("─", TotalWidth())) + '\n';
      for (size_t row = 0; row < text_.n_rows; ++row) out += Row(row) + '\n';
    }
    AddNotes(out);
    return out;
  }

 private:
  void ChooseGuides() {
    if (text_.depths.empty()) return;
    guides_ = TreeGuides(text_.depths, 2);
    int deepest = 0;
    for (const std::string& guide : guides_) deepest = std::max(deepest, DisplayWidth(guide));
    if (width_ > 0 && deepest > width_ / 5) guides_ = TreeGuides(text_.depths, 1);
  }

  const std::string& Guide(const TextColumn& column, size_t row) const {
    static const std::string kNone;
    return column.kind == TextColumn::Kind::kTree && !guides_.empty() ? guides_[row] : kNone;
  }

  std::vector<int> NaturalWidths() const {
    std::vector<int> natural;
    for (const TextColumn& column : text_.columns) {
      int width = DisplayWidth(column.Heading());
      for (size_t row = 0; row < text_.n_rows; ++row) {
        width = std::max(width, DisplayWidth(column.cells[row]) + DisplayWidth(Guide(column, row)));
      }
      natural.push_back(width);
    }
    return natural;
  }

  int BarCells(size_t column) const {
    return column == bar_column_ && fit_.bar_width > 0 ? fit_.bar_width + 1 : 0;
  }

  int TotalWidth() const {
    int width = -ColumnFit::kGap;
    for (size_t i = 0; i < text_.columns.size(); ++i) {
      if (fit_.widths[i] > 0) width += fit_.widths[i] + BarCells(i) + ColumnFit::kGap;
    }
    return std::max(width, 0);
  }

  /// Joins one text a column, given as (text without style, text to print).
  template <typename CellAt>
  std::string Line(CellAt cell_at) const {
    std::string line;
    for (size_t i = 0; i < text_.columns.size(); ++i) {
      if (fit_.widths[i] == 0) continue;
      if (!line.empty()) line += std::string(ColumnFit::kGap, ' ');
      line += cell_at(i);
    }
    return WithoutTrailingSpaces(std::move(line));
  }

  std::string Heading() const {
    return Line([this](size_t i) {
      const TextColumn& column = text_.columns[i];
      const int width = fit_.widths[i];
      const bool with_unit = !column.unit.empty() && DisplayWidth(column.Heading()) <= width;
      const std::string title = with_unit ? column.title : ElideEnd(column.title, width);
      const std::string unit = with_unit ? ' ' + column.unit : "";
      const std::string space(
          static_cast<size_t>(std::max(0, width - DisplayWidth(title) - DisplayWidth(unit))), ' ');
      const std::string text = style_.Bold(title) + style_.Dim(unit);
      return (column.right() ? space + text : text + space) +
             std::string(static_cast<size_t>(BarCells(i)), ' ');
    });
  }

  std::string Row(size_t row) const {
    return Line([this, row](size_t i) {
      const TextColumn& column = text_.columns[i];
      const int width = fit_.widths[i];
      std::string cell = column.cells[row];
      if (column.right()) {
        cell = PadLeft(std::move(cell), width);
      } else {
        const std::string& guide = Guide(column, row);
        const int room = std::max(1, width - DisplayWidth(guide));
        const bool is_text = column.kind == TextColumn::Kind::kText;
        cell = PadRight(is_text ? ElideEnd(cell, room) : ElideMiddle(cell, room), room);
        cell = style_.Dim(guide) + cell;
      }
      if (BarCells(i) == 0) return cell;
      const std::string bar = BarText(column.shares[row], fit_.bar_width);
      const int rest = std::max(0, fit_.bar_width - DisplayWidth(bar));
      return cell + ' ' + style_.Bar(bar) + std::string(static_cast<size_t>(rest), ' ');
    });
  }

  void AddNotes(std::string& out) const {
    std::vector<std::string> notes = text_.notes;
    std::vector<TextColumn> shown;
    std::vector<std::string> hidden;
    for (size_t i = 0; i < text_.columns.size(); ++i) {
      if (fit_.widths[i] == 0) {
        hidden.push_back(text_.columns[i].title);
      } else if (text_.n_rows > 0 && !text_.columns[i].note.empty()) {
        shown.push_back({.note = text_.columns[i].note});
      }
    }
    for (std::string& note : NotesOf(shown)) notes.push_back(std::move(note));
    if (!hidden.empty() && text_.n_rows > 0) {
      notes.push_back(fmt::format("no room for: {}", fmt::join(hidden, ", ")));
    }
    for (const std::string& note : notes) {
      for (const std::string& line : WrapText(note, width_)) out += style_.Dim(line) + '\n';
    }
  }

  TextTable text_;
  const Style& style_;
  int width_;
  size_t bar_column_ = 0;
  std::vector<std::string> guides_;
  ColumnFit fit_;
};

}  // namespace

std::string RenderTerminalTable(const table::Table& table, int width, const Style& style) {
  std::vector<size_t> folded;
  // Every round folds another part, so there are no more rounds than parts.
  for (table::Table shown = table;; shown = WithRest(table, folded)) {
    const TableLines lines(BuildTextTable(shown), width, style);
    const size_t n_folded = folded.size();
    for (const size_t column : lines.Hidden()) {
      if (column < table.columns.size() && table.columns[column].spec.part) {
        folded.push_back(column);
      }
    }
    if (folded.size() == n_folded) return lines.Render();
  }
}

}  // namespace layerscope::render
