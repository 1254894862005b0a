#include "src/ingest/nsys/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace layerscope::ingest::nsys {
namespace {

constexpr std::array kReadTables = {
    kKernels,        kMemcpys,           kMemsets,         kGraphTraces,
    kRuntimeCalls,   kNvtxEvents,        kGraphNodeEvents, kGraphEvents,
    kStrings,        kThreadNames,       kProcesses,       kMpiRanks,
    kExportMetadata, kOldExportMetadata, kCaptureMetadata, kSessionStart,
    kGpus,           kCudaDevices,       kSystemEnv,       kDiagnostics,
};

/// A message that names more tables than this helps nobody.
constexpr size_t kMaxListedTables = 64;

bool IsRead(std::string_view table) {
  return std::find(kReadTables.begin(), kReadTables.end(), table) != kReadTables.end();
}

}  // namespace

Step Schema::Load(const Database& database) {
  // Views and virtual tables have no root page: they are queries of the file's author.
  Statement tables(database,
                   "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "
                   "name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
  Step step = tables.Next();
  for (; step == Step::kRow; step = tables.Next()) {
    const std::string name(tables.Text(0));
    ++n_tables_;
    if (tables_.size() < kMaxListedTables) tables_.push_back(name);
    if (IsRead(name)) LoadColumns(database, name);
  }
  return step;
}

void Schema::LoadColumns(const Database& database, const std::string& table) {
  std::set<std::string, std::less<>> columns;
  Statement info(database, fmt::format("PRAGMA table_info(\"{}\")", table));
  while (info.Next() == Step::kRow) columns.emplace(info.Text(1));
  if (columns.empty()) {
    damaged_tables_.push_back(table);
    return;
  }
  Statement probe(database, fmt::format("SELECT {} FROM \"{}\" LIMIT 0", kRowNumber, table));
  const bool numbered = !columns.contains(kRowNumber) && probe.Next() == Step::kDone;
  if (!numbered) without_row_numbers_.insert(table);
  columns_[table] = std::move(columns);
}

bool Schema::HasColumn(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.contains(column);
}

bool Schema::HasRowNumbers(std::string_view table) const {
  return !without_row_numbers_.contains(table);
}

bool Schema::IsExport() const {
  // nvprof's databases also name tables CUPTI_ACTIVITY_KIND_*, but keep their strings elsewhere.
  const bool has_metadata = HasTable(kExportMetadata) || HasTable(kOldExportMetadata);
  return has_metadata || HasTable(kSessionStart) || HasColumn(kNvtxEvents, "globalTid") ||
         HasColumn(kKernels, "globalPid") || HasColumn(kRuntimeCalls, "globalTid");
}

}  // namespace layerscope::ingest::nsys
