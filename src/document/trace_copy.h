#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/ingest/kineto/raw_event_reader.h"
#include "src/io/byte_sink.h"
#include "src/io/byte_source.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// What goes from a trace into its copy.
struct CopyPlan {
  /// True for an event that is copied; absent = all. Of a copy that is made of the store
  /// (store_copy.h) an event has its row and times, and neither text nor fields.
  std::function<bool(const ingest::kineto::RawEvent&)> keeps;
  /// Of a copy that is made of the store: true for a row of GraphNodes that is written; absent =
  /// all.
  std::function<bool(size_t)> keeps_graph_node;
  /// Of a copy that is made of the store: false for a process whose names, and those of its threads
  /// and streams, are left out; absent = all are named.
  std::function<bool(trace::ProcessId)> names_process;
  /// Members to add beside traceEvents, without commas around them; a bare list takes none.
  std::string members;
  /// Gives the JSON text of the next event to add behind them; absent = none.
  std::function<bool(std::string&)> next_added;
  /// The trace as it was read first: an input that has changed since is an error (first_read.h),
  /// and `keeps` sees no row that the trace does not have. Must outlive the copy.
  const trace::Trace* trace = nullptr;
};

/// What the caller of a copy is told, and how it ends it.
struct CopyHooks {
  const base::StopFlag* stop = nullptr;
  std::function<void(int64_t done, int64_t total)> progress;  ///< bytes of the file
};

struct CopyCounts {
  int64_t n_input = 0;     ///< events of the input
  int64_t n_kept = 0;      ///< of these, copied
  int64_t n_repaired = 0;  ///< of these, mended: they were no JSON
  int64_t n_added = 0;
  int64_t n_written() const { return n_kept + n_added; }
};

/// Writes the trace of `source` anew: kept events in order, byte for byte unless they are no JSON
/// (RawEvent::text), added ones behind them, the members beside traceEvents where they are JSON. An
/// object stays an object and a bare list a list; what was cut off or damaged is closed, so that
/// the copy is whole. Finishes `sink`. kCancelled when stopped.
base::Result<CopyCounts> CopyTrace(io::ByteSource& source, const CopyPlan& plan,
                                   const CopyHooks& hooks, io::ByteSink& sink);

}  // namespace layerscope::document
