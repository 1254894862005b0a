#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/ledger.h"

namespace layerscope::ingest::nsys {

/// One column of a table that is read. An absent column reads as NULL.
struct Column {
  /// Several names with | between: the first that is not NULL.
  std::string_view name;
  /// The table is of no use when it has none of the names.
  bool needed = false;
};

/// Rows of one table whose row numbers lie from `first` to `last`. Tables without row numbers are
/// read whole.
struct RowRange {
  int64_t first = std::numeric_limits<int64_t>::min();
  int64_t last = std::numeric_limits<int64_t>::max();
};

/// The SELECT over one table: column i of `columns` is value i.
class TableQuery {
 public:
  /// Nullopt, and an entry in the ledger, when a needed column is absent.
  static std::optional<TableQuery> Build(const Schema& schema, std::string_view table,
                                         std::span<const Column> columns, trace::Ledger& ledger);

  std::string_view table() const { return table_; }
  std::string_view ColumnName(size_t column) const { return columns_[column].name; }
  const std::string& sql() const { return sql_; }
  bool numbered() const { return numbered_; }

 private:
  std::string_view table_;
  std::span<const Column> columns_;
  std::string sql_;
  bool numbered_ = false;
};

/// The values of the row at which a scan stands, checked as they are taken. A value of the wrong
/// type, or NULL where one is needed, makes the row bad: it is left out and ledgered.
class Row {
 public:
  Row(const TableQuery& query, Statement& statement)
      : query_(query), statement_(statement), shift_(query.numbered() ? 1 : 0) {}

  int64_t Number() const { return shift_ == 1 ? statement_.Integer(0) : 0; }
  int64_t Needed(int column) {
    sqlite3_value* const value = statement_.Value(column + shift_);
    if (sqlite3_value_type(value) != SQLITE_INTEGER) {
      SetBad(column);
      return 0;
    }
    return sqlite3_value_int64(value);
  }
  int64_t IntegerOr(int column, int64_t absent) { return Integer(column).value_or(absent); }
  /// Nullopt: NULL.
  std::optional<int64_t> Integer(int column) {
    sqlite3_value* const value = statement_.Value(column + shift_);
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (type != SQLITE_NULL) SetBad(column);
    return std::nullopt;
  }
  /// Valid until the next row.
  std::optional<std::string_view> Text(int column) {
    const int at = column + shift_;
    const int type = statement_.Type(at);
    if (type == SQLITE_TEXT) return statement_.Text(at);
    if (type != SQLITE_NULL) SetBad(column);
    return std::nullopt;
  }
  bool IsText(int column) const { return statement_.Type(column + shift_) == SQLITE_TEXT; }
  bool IsNull(int column) const { return statement_.Type(column + shift_) == SQLITE_NULL; }

  bool bad() const { return bad_column_ >= 0; }
  void SetBad(int column) {
    if (bad_column_ < 0) bad_column_ = column;
  }
  void Clear() { bad_column_ = -1; }
  /// Counts the row as bad, with a sample that tells where.
  void AddTo(trace::Ledger& ledger) const;

 private:
  const TableQuery& query_;
  Statement& statement_;
  int shift_;
  int bad_column_ = -1;
};

/// Steps through a range of a table. Behind a damaged place it goes on where rows can be read
/// again; damage is in the ledger. Rows that come out of order are damage too: the tree repeats
/// itself.
class TableScan {
 public:
  TableScan(const Database& database, const TableQuery& query, RowRange range,
            trace::Ledger& ledger);

  /// Goes on with another range.
  void Restart(RowRange range);
  /// Moves to the next row; false at the end.
  bool Next();
  Row& row() { return row_; }
  /// After the last row: kDone, or why there are no more that is not damage.
  Step end() const { return end_; }
  int64_t n_rows() const { return n_rows_; }

 private:
  /// Where to go on behind a damaged place; false when nothing is left of the range.
  bool SkipDamage();
  void BindRange(int64_t first, int64_t last);

  const TableQuery& query_;
  RowRange range_;
  trace::Ledger& ledger_;
  Statement statement_;
  Row row_;
  Step end_ = Step::kDone;
  int64_t n_rows_ = 0;
  int64_t last_row_;      ///< number of the last row read, or where this attempt began
  bool has_row_ = false;  ///< a row was read in this attempt
  int64_t skip_ = 0;
};

/// The row numbers of a table, in ranges of about equal width that depend on nothing but the
/// table. One open range where the numbers cannot be told.
std::vector<RowRange> SplitTable(const Database& database, const TableQuery& query);

}  // namespace layerscope::ingest::nsys
