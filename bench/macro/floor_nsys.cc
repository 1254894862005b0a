// layerscope-floor-nsys: the least that any reader of an Nsight Systems export must do, as the
// yardstick of `run.py --nsys`.
//
// One thread steps once through the rows that a reader keeps, with the columns that it needs, and
// adds them up. Nothing is stored, sorted or joined.

#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace layerscope::bench {
namespace {

struct Table {
  const char* name;
  std::vector<const char*> columns;
};

const std::vector<Table> kTables = {
    {"StringIds", {"id", "value"}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
      "graphNodeId", "demangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
      "graphNodeId", "copyKind", "srcKind", "dstKind"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
      "graphNodeId", "memKind"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
      "graphExecId"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"}},
    {"NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid", "domainId"}},
    {"CUDA_GRAPH_NODE_EVENTS",
     {"start", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId"}},
};

struct Sums {
  uint64_t rows = 0;
  uint64_t integers = 0;  // modulo 2^64
  uint64_t text_bytes = 0;
};

std::set<std::string> ColumnsOf(sqlite3* database, const char* table) {
  std::set<std::string> found;
  sqlite3_stmt* statement = nullptr;
  const std::string sql = std::string("PRAGMA table_info(") + table + ")";
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK) {
    while (sqlite3_step(statement) == SQLITE_ROW) {
      found.insert(reinterpret_cast<const char*>(sqlite3_column_text(statement, 1)));
    }
  }
  sqlite3_finalize(statement);
  return found;
}

// The statement that reads the columns which this version of the export has; empty without the
// table.
std::string SelectOf(sqlite3* database, const Table& table) {
  const std::set<std::string> there = ColumnsOf(database, table.name);
  std::string columns;
  for (const char* column : table.columns) {
    if (there.count(column) == 0) continue;
    columns += (columns.empty() ? "\"" : ", \"") + std::string(column) + "\"";
  }
  return columns.empty() ? "" : "SELECT " + columns + " FROM " + table.name;
}

bool AddRows(sqlite3* database, const std::string& sql, Sums* sums) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return false;
  const int n_columns = sqlite3_column_count(statement);
  int state = 0;
  while ((state = sqlite3_step(statement)) == SQLITE_ROW) {
    ++sums->rows;
    for (int i = 0; i < n_columns; ++i) {
      if (sqlite3_column_type(statement, i) == SQLITE_TEXT) {
        sqlite3_column_text(statement, i);
        sums->text_bytes += static_cast<uint64_t>(sqlite3_column_bytes(statement, i));
      } else {
        sums->integers += static_cast<uint64_t>(sqlite3_column_int64(statement, i));
      }
    }
  }
  sqlite3_finalize(statement);
  return state == SQLITE_DONE;
}

int Run(const char* path) {
  sqlite3* database = nullptr;
  bool ok = sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK;
  std::string rows;
  Sums total;
  for (const Table& table : kTables) {
    const std::string sql = ok ? SelectOf(database, table) : "";
    if (sql.empty()) continue;
    Sums sums;
    ok = AddRows(database, sql, &sums);
    rows +=
        std::string(rows.empty() ? "\"" : ", \"") + table.name + "\": " + std::to_string(sums.rows);
    total.rows += sums.rows;
    total.integers += sums.integers;
    total.text_bytes += sums.text_bytes;
  }
  if (!ok) std::fprintf(stderr, "layerscope-floor-nsys: %s\n", sqlite3_errmsg(database));
  sqlite3_close(database);
  if (!ok) return 3;
  std::printf("{\"rows\": {%s}, \"n_rows\": %llu, \"integers\": \"%llu\", \"text_bytes\": %llu}\n",
              rows.c_str(), static_cast<unsigned long long>(total.rows),
              static_cast<unsigned long long>(total.integers),
              static_cast<unsigned long long>(total.text_bytes));
  return 0;
}

}  // namespace
}  // namespace layerscope::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: layerscope-floor-nsys FILE.sqlite\n");
    return 2;
  }
  return layerscope::bench::Run(argv[1]);
}
