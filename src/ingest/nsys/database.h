#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/ingest/nsys/text_budget.h"

namespace layerscope::ingest::nsys {

/// What one step of a statement came to.
enum class Step : uint8_t {
  kRow,
  kDone,
  kDamaged,  ///< the rest of what the statement reads cannot be read
  kStopped,
  kOutOfMemory,
  kUnreadable,  ///< the system refused to read the file on
};

/// Why reading ended before its end: kCancelled for kStopped, kFailed for kOutOfMemory and
/// kUnreadable.
base::Error ErrorOf(Step step);

/// A database opened for reading only, without locks and without a journal: nothing is written
/// beside it, and it may stand in a read-only folder or be held by another process. For one thread.
class Database {
 public:
  struct Options {
    /// Also reads a file that is shorter than it says, or whose list of tables is damaged in part.
    bool salvage = false;
    const base::StopFlag* stop = nullptr;
    /// Of another connection to the same file; absent: one of its own.
    std::shared_ptr<TextBudget> text_budget{};
  };
  /// kInvalidInput when there is no such file, or it is no database.
  static base::Result<Database> Open(const std::string& path, const Options& options);

  sqlite3* handle() const { return handle_.get(); }
  int64_t file_bytes() const { return file_bytes_; }
  const std::shared_ptr<TextBudget>& text_budget() const { return text_budget_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  int64_t file_bytes_ = 0;
  std::shared_ptr<TextBudget> text_budget_;
};

/// One query, stepped row by row. A query that cannot be prepared is like one whose first step
/// fails. Columns count from 0.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  /// Parameters count from 1.
  void Bind(int parameter, int64_t value);
  /// Starts again with the parameters as they are bound then.
  void Restart();
  Step Next();

  /// SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL.
  int Type(int column) const { return sqlite3_column_type(handle_.get(), column); }
  int64_t Integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  /// For sqlite3_value_type and its like, which cost a third of the above: the connection is this
  /// thread's alone. Valid until the next step.
  sqlite3_value* Value(int column) const { return sqlite3_column_value(handle_.get(), column); }
  /// Valid until the next step. Throws std::bad_alloc: a text that could not be had is no empty
  /// one.
  std::string_view Text(int column);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int prepared_ = SQLITE_OK;
  /// A damaged tree can name one page many times. No file holds more rows than bytes.
  int64_t rows_left_ = 0;
  std::shared_ptr<TextBudget> text_budget_;
  int64_t text_left_ = 0;  ///< granted and not used yet; below zero: no more text is read
};

}  // namespace layerscope::ingest::nsys
