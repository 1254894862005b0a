#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

struct ReadOptions {
  /// Threads that step through the tables; 0 = one a core. The result is identical for every
  /// number.
  int threads = 0;
  /// Polled every few thousand rows; kCancelled when requested.
  const base::StopFlag* stop = nullptr;
  /// Told the bytes of the file that are done, by share of rows; from any thread, one at a time.
  std::function<void(int64_t)> progress;
};

/// True for the first bytes of an SQLite database.
bool IsDatabase(std::string_view begin);

/// False for a database that another program wrote; true for an export, and for what cannot be read
/// (ReadTrace says why). Looks at the list of tables alone.
bool MayBeExport(const std::string& path);

/// Reads an Nsight Systems SQLite export (formats/nsys_schema.md) of any version: tables and
/// columns are probed, absent ones are empty. The file is opened read-only and without locks. Every
/// read is one pass over one table; joins are ours. What cannot be used is in the trace's ledger;
/// kInvalidInput, naming what it is, for a database that is no such export. Times are relative to
/// the trace's own zero.
base::Result<trace::Trace> ReadTrace(const std::string& path, const ReadOptions& options);

}  // namespace layerscope::ingest::nsys
