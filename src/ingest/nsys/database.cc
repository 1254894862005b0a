#include "src/ingest/nsys/database.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace layerscope::ingest::nsys {
namespace {

/// Virtual machine instructions between two looks at the stop flag: about 0.1 ms.
constexpr int kInstructionsPerPoll = 10000;

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
  switch (code & 0xff) {
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
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
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
    : rows_left_(database.file_bytes()) {
  sqlite3_stmt* handle = nullptr;
  prepared_ = sqlite3_prepare_v2(database.handle(), sql.c_str(), static_cast<int>(sql.size()),
                                 &handle, nullptr);
  handle_.reset(handle);
}

void Statement::Bind(int parameter, int64_t value) {
  if (prepared_ == SQLITE_OK) sqlite3_bind_int64(handle_.get(), parameter, value);
}

void Statement::Bind(int parameter, std::string_view value) {
  if (prepared_ != SQLITE_OK) return;
  sqlite3_bind_text(handle_.get(), parameter, value.data(), static_cast<int>(value.size()),
                    SQLITE_TRANSIENT);
}

void Statement::Restart() {
  if (prepared_ == SQLITE_OK) sqlite3_reset(handle_.get());
}

Step Statement::Next() {
  if (prepared_ != SQLITE_OK) return StepOf(prepared_);
  if (--rows_left_ < 0) return Step::kDamaged;
  return StepOf(sqlite3_step(handle_.get()));
}

std::string_view Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

}  // namespace layerscope::ingest::nsys
