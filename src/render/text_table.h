#pragma once

#include <string>
#include <vector>

#include "src/table/table.h"

namespace layerscope::render {

/// One column of a table for people: every cell is text already.
struct TextColumn {
  enum class Kind { kText, kName, kTree, kNumber, kShare };
  Kind kind = Kind::kText;
  std::string title{};
  std::string unit{};  ///< of all cells; part of the heading
  int priority = 0;
  std::vector<std::string> cells{};
  std::vector<double> shares{};  ///< kShare: 0 to 1, for the bar
  std::string note{};            ///< for under the table, where the column is shown
  size_t source = 0;             ///< index into Table::columns
  bool keep = false;             ///< never gives way on a narrow terminal

  /// "wall ms"
  std::string Heading() const { return unit.empty() ? title : title + ' ' + unit; }
  bool right() const { return kind == Kind::kNumber || kind == Kind::kShare; }
};

/// What terminal and Markdown have in common: the columns that people see, with numbers formatted
/// per column, shares computed, and names made safe for a terminal. Columns without any known cell
/// are left out.
struct TextTable {
  std::string title{};
  size_t n_rows = 0;
  std::vector<TextColumn> columns{};
  std::vector<int> depths{};  ///< of each row; empty when the table is no tree
  std::vector<std::string> notes{};
};

TextTable BuildTextTable(const table::Table& table);

/// The notes of these columns, each once.
std::vector<std::string> NotesOf(const std::vector<TextColumn>& columns);

}  // namespace layerscope::render
