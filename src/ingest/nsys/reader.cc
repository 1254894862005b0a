#include "src/ingest/nsys/reader.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "src/ingest/nsys/foreign_database.h"
#include "src/ingest/nsys/metadata.h"
#include "src/ingest/nsys/scan_pipeline.h"
#include "src/ingest/nsys/schema.h"
#include "src/ingest/nsys/tables.h"
#include "src/ingest/nsys/trace_assembler.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;

/// The least that a row of an activity takes in a file: what its size bounds.
constexpr int64_t kMinRowBytes = 24;

base::Error DescribeDamage() {
  return {base::ErrorCode::kInvalidInput, "the database is cut or damaged: nothing can be read",
          "copy it again, or write it again with nsys export --type sqlite"};
}

/// A database and its tables, read as far as damage allows.
struct Opened {
  Database database;
  Schema schema;
  bool salvaged = false;
};

base::Result<Opened> OpenExport(const std::string& path, const ReadOptions& options) {
  for (const bool salvage : {false, true}) {
    auto database = Database::Open(path, {salvage, options.stop, nullptr});
    if (!database.ok()) return std::move(database).error();
    Opened opened{*std::move(database), {}, salvage};
    const Step step = opened.schema.Load(opened.database);
    if (step != Step::kDone && step != Step::kDamaged) return ErrorOf(step);
    if (step == Step::kDamaged && !salvage) continue;
    if (step == Step::kDamaged && opened.schema.n_tables() == 0) break;
    if (!opened.schema.IsExport()) return DescribeForeign(opened.schema);
    return opened;
  }
  return DescribeDamage();
}

/// Journals that hold what is not in the database yet. They are not read: that would take locks and
/// write.
void CheckJournals(const std::string& path, trace::Ledger& ledger) {
  for (const char* suffix : {"-wal", "-journal"}) {
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(path + suffix, missing);
    if (!missing && bytes > 0) {
      ledger.AddSample(LedgerCode::unread_journal, -1,
                       std::filesystem::path(path + suffix).filename().string());
    }
  }
}

void LedgerDamage(const Opened& opened, trace::Ledger& ledger) {
  if (opened.salvaged) {
    ledger.AddSample(LedgerCode::damaged_database, -1, "the list of tables or the size");
  }
  for (const std::string& table : opened.schema.damaged_tables()) {
    ledger.AddSample(LedgerCode::damaged_database, -1, table);
  }
}

/// How many rows a range may hold.
int64_t MaxRows(const RowRange& range, int64_t limit) {
  const uint64_t width = static_cast<uint64_t>(range.last) - static_cast<uint64_t>(range.first);
  return static_cast<int64_t>(std::min(width, static_cast<uint64_t>(limit - 1)) + 1);
}

/// The tasks of all tables, and room in the merger for what they give.
std::vector<ScanTask> PlanTasks(const Opened& opened, std::list<TableQuery>& queries,
                                BatchMerger& merger) {
  std::vector<ScanTask> tasks;
  int64_t n_activities = 0;
  const int64_t limit = opened.database.file_bytes() / kMinRowBytes + 1;
  for (const TableReader& reader : TableReaders(opened.schema)) {
    auto query = TableQuery::Build(opened.schema, reader.table, reader.columns, merger.ledger());
    if (!query) continue;
    queries.push_back(*std::move(query));
    for (const RowRange& range : SplitTable(opened.database, queries.back())) {
      tasks.push_back({&queries.back(), reader.read, range});
      if (reader.is_activity) n_activities += MaxRows(range, limit);
    }
  }
  merger.ReserveActivities(static_cast<size_t>(std::min(n_activities, limit)));
  return tasks;
}

size_t ThreadCount(int asked) {
  if (asked > 0) return static_cast<size_t>(std::min(asked, 256));
  return std::max(1U, std::thread::hardware_concurrency());
}

base::Result<trace::Trace> ReadWhole(const std::string& path, const ReadOptions& options) {
  auto opened = OpenExport(path, options);
  if (!opened.ok()) return std::move(opened).error();
  BatchMerger merger;
  CheckJournals(path, merger.ledger());
  LedgerDamage(*opened, merger.ledger());
  std::list<TableQuery> queries;
  std::vector<ScanTask> tasks = PlanTasks(*opened, queries, merger);
  const size_t n_tasks = std::max<size_t>(tasks.size(), 1);
  ScanPipeline::Options scan{path,
                             {opened->salvaged, options.stop, opened->database.text_budget()},
                             ThreadCount(options.threads),
                             {}};
  if (options.progress) {
    const auto share =
        static_cast<double>(opened->database.file_bytes()) / static_cast<double>(n_tasks);
    scan.progress = [&options, share](size_t n_merged) {
      options.progress(static_cast<int64_t>(share * static_cast<double>(n_merged)));
    };
  }
  ScanPipeline pipeline(std::move(tasks), merger, std::move(scan));
  if (base::Status status = pipeline.Run(); !status.ok()) return std::move(status).error();
  const bool damaged = merger.ledger().count(LedgerCode::damaged_database) > 0;
  if (damaged && merger.n_rows() == 0) return DescribeDamage();
  auto trace = AssembleTrace(opened->database, opened->schema, merger);
  if (!trace.ok()) return std::move(trace).error();
  const Step end = ReadMetadata(opened->database, opened->schema, *trace);
  if (end != Step::kDone) return ErrorOf(end);
  return trace;
}

}  // namespace

bool IsDatabase(std::string_view begin) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  return begin.starts_with(kMagic);
}

bool MayBeExport(const std::string& path) {
  const auto database = Database::Open(path, {});
  Schema schema;
  if (!database.ok() || schema.Load(*database) != Step::kDone) return true;
  return schema.IsExport();
}

base::Result<trace::Trace> ReadTrace(const std::string& path, const ReadOptions& options) {
  try {
    return ReadWhole(path, options);
  } catch (const std::bad_alloc&) {
    return ErrorOf(Step::kOutOfMemory);
  }
}

}  // namespace layerscope::ingest::nsys
