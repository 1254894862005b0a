#include "src/render/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/nearest.h"
#include "src/render/data_tables.h"
#include "src/render/display_text.h"
#include "src/render/health_lines.h"

namespace layerscope::render {
namespace {

using table::Cell;
using table::CellMap;
using table::Column;
using table::Table;

/// The name of the scalars where no table is the main one.
constexpr std::string_view kFacts = "facts";
/// The name of what stands for all ranks.
constexpr std::string_view kReduced = "reduced";
/// Between the items of a list in one field: names hold spaces and commas.
constexpr std::string_view kBetweenItems = ";";

void AppendField(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

std::string CellText(const Cell& cell) {
  struct Visitor {
    std::string operator()(table::Null) const { return {}; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const {
      return std::isfinite(value) ? fmt::format("{}", value) : std::string();
    }
    std::string operator()(std::string_view value) const { return ValidUtf8(value); }
    std::string operator()(const CellMap&) const { return {}; }
    std::string operator()(const table::CellList& list) const {
      return ValidUtf8(fmt::format("{}", fmt::join(list, kBetweenItems)));
    }
  };
  return std::visit(Visitor{}, cell);
}

/// The rows of one rank.
struct Source {
  std::string rank{};
  std::shared_ptr<const Table> table{};
};

/// A column of the output; `keys` is not empty when its cells are maps.
struct CsvColumn {
  std::string name{};
  std::vector<std::string> keys{};
};

bool HoldsMaps(const Table& table, const Column& column) {
  for (size_t i = 0; i < table.size(); ++i) {
    const Cell cell = column.cell(table.RowAt(i));
    if (!std::holds_alternative<table::Null>(cell)) return std::holds_alternative<CellMap>(cell);
  }
  return false;
}

void CollectKeys(const Table& table, const Column& column, std::vector<std::string>& keys) {
  for (size_t i = 0; i < table.size(); ++i) {
    const Cell cell = column.cell(table.RowAt(i));
    const auto* map = std::get_if<CellMap>(&cell);
    if (map == nullptr) continue;
    for (const auto& [key, value] : *map) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
}

std::vector<CsvColumn> ColumnsOf(const std::vector<Source>& sources) {
  std::vector<CsvColumn> columns;
  for (const Source& source : sources) {
    for (const Column& column : source.table->columns) {
      if (column.spec.audience == table::Audience::kPeople) continue;
      auto at = std::find_if(columns.begin(), columns.end(), [&column](const CsvColumn& known) {
        return known.name == column.spec.name;
      });
      if (at == columns.end()) at = columns.insert(at, {column.spec.name, {}});
      if (HoldsMaps(*source.table, column)) CollectKeys(*source.table, column, at->keys);
    }
  }
  return columns;
}

/// Writes lines field by field.
class CsvText {
 public:
  explicit CsvText(bool to_terminal) : to_terminal_(to_terminal) {}
  void Field(std::string_view text) {
    if (!first_) text_ += ',';
    first_ = false;
    if (to_terminal_) {
      AppendField(text_, VisibleText(text));
    } else {
      AppendField(text_, text);
    }
  }
  void EndLine() {
    text_ += '\n';
    first_ = true;
  }
  std::string Take() { return std::move(text_); }

 private:
  const bool to_terminal_;
  std::string text_;
  bool first_ = true;
};

/// A map leaves out what is zero; only an unknown map is empty.
void WriteMapCell(const CsvColumn& column, const Cell& cell, CsvText& csv) {
  const auto* map = std::get_if<CellMap>(&cell);
  for (const std::string& key : column.keys) {
    if (map == nullptr) {
      csv.Field("");
      continue;
    }
    const auto found = std::find_if(map->begin(), map->end(),
                                    [&key](const auto& entry) { return entry.first == key; });
    csv.Field(found == map->end() ? "0" : fmt::format("{}", found->second));
  }
}

void WriteRows(const Source& source, const std::vector<CsvColumn>& columns, bool with_rank,
               CsvText& csv) {
  std::vector<const Column*> views;
  views.reserve(columns.size());
  for (const CsvColumn& column : columns) views.push_back(source.table->Find(column.name));
  for (size_t i = 0; i < source.table->size(); ++i) {
    const size_t row = source.table->RowAt(i);
    if (with_rank) csv.Field(source.rank);
    for (size_t c = 0; c < columns.size(); ++c) {
      const Cell cell = views[c] == nullptr ? Cell(table::Null{}) : views[c]->cell(row);
      if (columns[c].keys.empty()) {
        csv.Field(CellText(cell));
      } else {
        WriteMapCell(columns[c], cell, csv);
      }
    }
    csv.EndLine();
  }
}

/// `are_told_by_rank`: no two inputs are of one rank, else a column says which row is of which.
std::string WriteCsv(const std::vector<Source>& sources, bool several, bool are_told_by_rank,
                     bool to_terminal) {
  const std::vector<CsvColumn> columns = ColumnsOf(sources);
  const bool has_rank = std::any_of(columns.begin(), columns.end(),
                                    [](const CsvColumn& column) { return column.name == "rank"; });
  const bool with_rank = several && (!has_rank || !are_told_by_rank);
  CsvText csv(to_terminal);
  if (with_rank) csv.Field(are_told_by_rank ? "rank" : "input");
  for (const CsvColumn& column : columns) {
    if (column.keys.empty()) csv.Field(ValidUtf8(column.name));
    for (const std::string& key : column.keys) csv.Field(ValidUtf8(column.name + '.' + key));
  }
  csv.EndLine();
  for (const Source& source : sources) WriteRows(source, columns, with_rank, csv);
  return csv.Take();
}

std::shared_ptr<const Table> FactsTable(const table::Object& data) {
  std::vector<std::string> keys, values;
  for (const auto& [key, cell] : ScalarsOf(data)) {
    keys.push_back(key);
    values.push_back(CellText(cell));
  }
  auto table = std::make_shared<Table>();
  AddStrings(*table, {.name = "key"}, std::move(keys));
  AddStrings(*table, {.name = "value"}, std::move(values));
  return table;
}

/// As a heading shows it: "Top kernels" is top_kernels.
std::string AsKey(std::string_view name) {
  std::string key(name);
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ' || c == '-') c = '_';
  }
  return key;
}

std::shared_ptr<const Table> FindTable(const std::vector<NamedTable>& tables,
                                       std::string_view name) {
  for (const NamedTable& entry : tables) {
    if (entry.path == name) return entry.table;
  }
  const std::string key = AsKey(name);
  for (const NamedTable& entry : tables) {
    if (entry.path.substr(entry.path.rfind('.') + 1) == key) return entry.table;
  }
  return nullptr;
}

/// The table of `reduced` that is asked for; `main_table` when none is asked for.
std::shared_ptr<const Table> FindReduced(const std::vector<NamedTable>& tables,
                                         std::string_view table_name, std::string_view main_table) {
  if (table_name == kReduced && !tables.empty()) return tables.front().table;
  return FindTable(tables, table_name.empty() ? main_table : table_name);
}

base::Error NoTable(std::string_view name, const std::vector<std::string>& names) {
  return {base::ErrorCode::kUsage,
          fmt::format("no table '{}'{}", name, base::DidYouMean(name, names)),
          fmt::format("tables: {}", fmt::join(names, ", "))};
}

}  // namespace

base::Result<std::string> RenderCsv(const table::Result& result, std::string_view table_name,
                                    bool to_terminal) {
  std::vector<Source> sources;
  std::vector<std::string> names;
  if (result.reduced) {
    const std::vector<NamedTable> tables = TablesOf(*result.reduced);
    const std::string main_table = result.ranks.empty() ? "" : result.ranks.front().main_table;
    if (std::shared_ptr<const Table> table = FindReduced(tables, table_name, main_table)) {
      return WriteCsv({{{}, std::move(table)}}, false, true, to_terminal);
    }
    if (!tables.empty()) names.emplace_back(kReduced);
    for (const NamedTable& table : tables) names.push_back(table.path);
  }
  const bool ranks_are_distinct = !HasRankTwice(result);
  for (const table::RankResult& rank : result.ranks) {
    const std::string name(table_name.empty() ? std::string_view(rank.main_table) : table_name);
    std::vector<NamedTable> tables = TablesOf(rank.data);
    if (rank.main_table.empty()) tables.push_back({std::string(kFacts), FactsTable(rank.data)});
    for (const NamedTable& table : tables) {
      if (std::find(names.begin(), names.end(), table.path) == names.end()) {
        names.push_back(table.path);
      }
    }
    std::shared_ptr<const Table> table = FindTable(tables, name.empty() ? kFacts : name);
    if (table == nullptr) continue;
    const bool by_rank = rank.rank && ranks_are_distinct;
    const std::string label = by_rank ? fmt::format("{}", *rank.rank) : ValidUtf8(rank.input);
    sources.push_back({label, std::move(table)});
  }
  if (!sources.empty()) {
    return WriteCsv(sources, HasSeveralRanks(result), ranks_are_distinct, to_terminal);
  }
  if (!table_name.empty()) return NoTable(table_name, names);
  // Every rank abstained: there are no rows and no columns to name.
  return std::string();
}

}  // namespace layerscope::render
