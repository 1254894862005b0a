#include "src/ingest/nsys/test_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "src/base/check.h"

namespace layerscope::ingest::nsys {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210'),
  ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL, mangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
  blockX INTEGER, blockY INTEGER, blockZ INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
)";

}  // namespace

TestDatabase::TestDatabase() {
  static std::atomic<int> n_made{0};
  const auto name =
      fmt::format("layerscope_nsys_{:08x}_{}.sqlite", std::random_device()(), n_made.fetch_add(1));
  path_ = (std::filesystem::temp_directory_path() / name).string();
}

TestDatabase::~TestDatabase() {
  for (const char* suffix : {"", "-wal", "-journal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(path_ + suffix, ignored);
  }
}

TestDatabase& TestDatabase::Run(const std::string& sql) {
  sqlite3* handle = nullptr;
  LS_CHECK(sqlite3_open(path_.c_str(), &handle) == SQLITE_OK, path_.c_str());
  sqlite3_exec(handle, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
  const int code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  LS_CHECK(code == SQLITE_OK, sqlite3_errmsg(handle));
  sqlite3_close(handle);
  return *this;
}

TestDatabase& TestDatabase::MakeTables() {
  return Run(kTables);
}

TestDatabase& TestDatabase::Insert(const std::string& table, const std::string& columns,
                                   const std::string& rows) {
  return Run(fmt::format("INSERT INTO {} ({}) VALUES {}", table, columns, rows));
}

TestDatabase& TestDatabase::String(int64_t id, const std::string& value) {
  return Insert("StringIds", "id, value", fmt::format("({}, '{}')", id, value));
}

base::Result<trace::Trace> TestDatabase::Read(int threads) const {
  ReadOptions options;
  options.threads = threads;
  return ReadTrace(path_, options);
}

std::string TestDatabase::Bytes() const {
  std::ifstream file(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void TestDatabase::SetBytes(const std::string& bytes) const {
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
}

int64_t GlobalTid(int64_t pid, int64_t tid) {
  return (int64_t{1} << 48) | (pid << 24) | tid;
}

std::vector<std::string> Names(const trace::Trace& trace, const std::vector<trace::StringId>& ids) {
  std::vector<std::string> names;
  for (const trace::StringId id : ids) names.emplace_back(trace.strings[id]);
  return names;
}

}  // namespace layerscope::ingest::nsys
