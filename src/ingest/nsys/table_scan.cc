#include "src/ingest/nsys/table_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace layerscope::ingest::nsys {
namespace {

constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
/// Rows of a page of 4096 bytes: what the first step behind a damaged place leaves out.
constexpr int64_t kSkippedRows = 16;
/// Small enough that two threads share a table well, large enough that starting a scan costs
/// nothing.
constexpr uint64_t kRowsPerRange = 1 << 17;
/// Row numbers may be anything; this bounds how many ranges a table falls into.
constexpr uint64_t kMaxRanges = 1024;

/// `"a"`, `COALESCE("a", "b")` or NULL, of the names that the table has.
std::string Expression(const Schema& schema, std::string_view table, std::string_view names) {
  std::string list;
  int n_names = 0;
  while (!names.empty()) {
    const size_t bar = std::min(names.find('|'), names.size());
    const std::string_view name = names.substr(0, bar);
    names.remove_prefix(std::min(bar + 1, names.size()));
    if (!schema.HasColumn(table, name)) continue;
    list += fmt::format("{}\"{}\"", n_names == 0 ? "" : ", ", name);
    ++n_names;
  }
  if (n_names == 0) return "NULL";
  return n_names == 1 ? list : fmt::format("COALESCE({})", list);
}

}  // namespace

std::optional<TableQuery> TableQuery::Build(const Schema& schema, std::string_view table,
                                            std::span<const Column> columns,
                                            trace::Ledger& ledger) {
  TableQuery query;
  query.table_ = table;
  query.columns_ = columns;
  query.numbered_ = schema.HasRowNumbers(table);
  std::string list(query.numbered_ ? kRowNumber : "");
  for (const Column& column : columns) {
    const std::string expression = Expression(schema, table, column.name);
    if (expression == "NULL" && column.needed) {
      ledger.AddSample(trace::LedgerCode::missing_column, -1,
                       fmt::format("{}.{}", table, column.name));
      return std::nullopt;
    }
    list += (list.empty() ? "" : ", ") + expression;
  }
  // NOT INDEXED: an index of the file's must not decide in which order rows come.
  query.sql_ = fmt::format("SELECT {} FROM \"{}\" NOT INDEXED", list, table);
  if (query.numbered_) {
    query.sql_ += fmt::format(" WHERE {0} BETWEEN ?1 AND ?2 ORDER BY {0}", kRowNumber);
  }
  return query;
}

void Row::AddTo(trace::Ledger& ledger) const {
  const std::string where =
      fmt::format("{}.{}", query_.table(), query_.ColumnName(static_cast<size_t>(bad_column_)));
  ledger.AddSample(trace::LedgerCode::bad_value, -1,
                   shift_ == 1 ? fmt::format("{}, row {}", where, Number()) : where);
}

TableScan::TableScan(const Database& database, const TableQuery& query, RowRange range,
                     trace::Ledger& ledger)
    : query_(query),
      range_(range),
      ledger_(ledger),
      statement_(database, query.sql()),
      row_(query, statement_),
      last_row_(range.first),
      skip_(kSkippedRows) {
  BindRange(range_.first, range_.last);
}

void TableScan::BindRange(int64_t first, int64_t last) {
  if (!query_.numbered()) return;
  statement_.Bind(1, first);
  statement_.Bind(2, last);
}

void TableScan::Restart(RowRange range) {
  range_ = range;
  last_row_ = range.first;
  has_row_ = false;
  skip_ = kSkippedRows;
  end_ = Step::kDone;
  statement_.Restart();
  BindRange(range.first, range.last);
}

bool TableScan::Next() {
  while (true) {
    Step step = statement_.Next();
    if (step == Step::kRow && query_.numbered()) {
      const int64_t number = statement_.Integer(0);
      if (has_row_ && number <= last_row_) step = Step::kDamaged;
      if (step == Step::kRow) last_row_ = number;
    }
    if (step == Step::kRow) {
      has_row_ = true;
      ++n_rows_;
      row_.Clear();
      return true;
    }
    if (step == Step::kDamaged && SkipDamage()) continue;
    end_ = step == Step::kDamaged ? Step::kDone : step;
    return false;
  }
}

bool TableScan::SkipDamage() {
  ledger_.AddSample(trace::LedgerCode::damaged_database, -1, query_.table());
  if (!query_.numbered()) return false;
  if (has_row_) skip_ = kSkippedRows;
  // The distance to the end as an unsigned number: it may be all 2^64 row numbers.
  const auto left = static_cast<uint64_t>(range_.last) - static_cast<uint64_t>(last_row_);
  if (left <= static_cast<uint64_t>(skip_)) return false;
  last_row_ += skip_;
  skip_ = std::min(skip_ * 2, kLast / 4);
  has_row_ = false;
  statement_.Restart();
  BindRange(last_row_, range_.last);
  return true;
}

namespace {

std::optional<int64_t> OneRowNumber(const Database& database, const TableQuery& query,
                                    std::string_view order) {
  Statement statement(database, fmt::format("SELECT {0} FROM \"{1}\" NOT INDEXED ORDER BY {0} {2} "
                                            "LIMIT 1",
                                            kRowNumber, query.table(), order));
  if (statement.Next() != Step::kRow) return std::nullopt;
  return statement.Integer(0);
}

}  // namespace

std::vector<RowRange> SplitTable(const Database& database, const TableQuery& query) {
  if (!query.numbered()) return {{}};
  const auto first = OneRowNumber(database, query, "ASC");
  const auto last = OneRowNumber(database, query, "DESC");
  if (!first || !last || *last < *first) return {{}};
  const uint64_t span = static_cast<uint64_t>(*last) - static_cast<uint64_t>(*first);
  const uint64_t width = std::max(kRowsPerRange, span / kMaxRanges + 1);
  std::vector<RowRange> ranges;
  for (uint64_t at = 0; at <= span; at += width) {
    const uint64_t end = span - at < width ? span : at + width - 1;
    ranges.push_back({static_cast<int64_t>(static_cast<uint64_t>(*first) + at),
                      static_cast<int64_t>(static_cast<uint64_t>(*first) + end)});
    if (end == span) break;
  }
  return ranges;
}

}  // namespace layerscope::ingest::nsys
