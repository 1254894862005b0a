#include "src/ingest/nsys/database.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <system_error>

namespace layerscope::ingest::nsys {
namespace {

/// Virtual machine instructions between two looks at the stop flag: about 0.1 ms.
constexpr int kInstructionsPerPoll = 10000;

/// The longest text or blob of a row, as the longest event of a trace (DESIGN.md section 5).
constexpr int kLongestValue = 64 << 20;

int Poll(void* stop) {
  return static_cast<const base::StopFlag*>(stop)->requested() ? 1 : 0;
}

/// The path as a URI (RFC 3986): what has a meaning there is escaped.
std::string UriOf(const std::string& path) {
  std::string uri = "file:";
  // "//" would begin the name of a host.
  if (path.starts_with("//")) uri += "//";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

Step StepOf(int code) {
  if (code == SQLITE_IOERR_NOMEM) return Step::kOutOfMemory;
  // A file that ends too soon is damaged; every other failure to read says nothing of the file.
  if (code == SQLITE_IOERR_SHORT_READ) return Step::kDamaged;
  switch (code & 0xff) {
    case SQLITE_IOERR:
      return Step::kUnreadable;
    case SQLITE_ROW:
      return Step::kRow;
    case SQLITE_DONE:
      return Step::kDone;
    case SQLITE_INTERRUPT:
      return Step::kStopped;
    case SQLITE_NOMEM:
      return Step::kOutOfMemory;
    default:
      return Step::kDamaged;
  }
}

}  // namespace

base::Error ErrorOf(Step step) {
  if (step == Step::kStopped) return base::Interrupted();
  if (step == Step::kUnreadable) {
    return {base::ErrorCode::kFailed, "the system refuses to read the database on",
            "check the disk or the network file system, or copy the file to a local disk"};
  }
  return {base::ErrorCode::kFailed, "out of memory while reading the database",
          "give the process more memory, or record fewer steps"};
}

base::Result<Database> Database::Open(const std::string& path, const Options& options) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  if (missing) {
    return base::Error{base::ErrorCode::kInvalidInput, "it cannot be opened: " + missing.message(),
                       "check the path"};
  }
  Database database;
  database.file_bytes_ = static_cast<int64_t>(bytes);
  database.text_budget_ = options.text_budget != nullptr
                              ? options.text_budget
                              : std::make_shared<TextBudget>(database.file_bytes_);
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(UriOf(path).c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (opened != SQLITE_OK) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       fmt::format("it cannot be opened: {}", sqlite3_errstr(opened)),
                       "check the path and its permissions"};
  }
  // The file may be anybody's: what its schema says must run nothing.
  for (const int setting : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_ENABLE_TRIGGER}) {
    if (sqlite3_db_config(handle, setting, 0, nullptr) == SQLITE_OK) continue;
    return base::Error{base::ErrorCode::kFailed, "this SQLite cannot be kept from running a schema",
                       "build with SQLite 3.31 or later"};
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  if (options.salvage) {
    // The one mode in which SQLite opens a file that is shorter than its header says.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  }
  if (options.stop != nullptr) {
    sqlite3_progress_handler(handle, kInstructionsPerPoll, Poll,
                             const_cast<base::StopFlag*>(options.stop));
  }
  return database;
}

Statement::Statement(const Database& database, const std::string& sql)
    : rows_left_(database.file_bytes()), text_budget_(database.text_budget()) {
  sqlite3_stmt* handle = nullptr;
  prepared_ = sqlite3_prepare_v2(database.handle(), sql.c_str(), static_cast<int>(sql.size()),
                                 &handle, nullptr);
  handle_.reset(handle);
}

void Statement::Bind(int parameter, int64_t value) {
  if (prepared_ == SQLITE_OK) sqlite3_bind_int64(handle_.get(), parameter, value);
}

void Statement::Restart() {
  if (prepared_ == SQLITE_OK) sqlite3_reset(handle_.get());
}

Step Statement::Next() {
  if (prepared_ != SQLITE_OK) return StepOf(prepared_);
  if (--rows_left_ < 0 || text_left_ < 0) return Step::kDamaged;
  return StepOf(sqlite3_step(handle_.get()));
}

std::string_view Statement::Text(int column) {
  const bool is_null = Type(column) == SQLITE_NULL;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (text == nullptr) {
    if (!is_null && sqlite3_errcode(sqlite3_db_handle(handle_.get())) == SQLITE_NOMEM) {
      throw std::bad_alloc();
    }
    return {};
  }
  const auto bytes = static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column));
  text_left_ -= static_cast<int64_t>(bytes);
  if (text_left_ < 0) text_left_ += text_budget_->Take(-text_left_);
  return {text, bytes};
}

}  // namespace layerscope::ingest::nsys
