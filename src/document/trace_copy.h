#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/ingest/kineto/raw_event_reader.h"
#include "src/io/byte_sink.h"
#include "src/io/byte_source.h"

namespace layerscope::document {

/// What goes from a trace into its copy.
struct CopyPlan {
  /// True for an event that is copied; absent = all.
  std::function<bool(const ingest::kineto::RawEvent&)> keeps;
  /// Gives the JSON text of the next event to add behind them; absent = none.
  std::function<bool(std::string&)> next_added;
  /// Events that the trace had when it was read first; another number is an error.
  int64_t n_expected = 0;
};

/// What the caller of a copy is told, and how it ends it.
struct CopyHooks {
  const base::StopFlag* stop = nullptr;
  std::function<void(int64_t done, int64_t total)> progress;  ///< bytes of the file
};

struct CopyCounts {
  int64_t n_input = 0;  ///< events of the input
  int64_t n_kept = 0;   ///< of these, copied
  int64_t n_added = 0;
  int64_t n_written() const { return n_kept + n_added; }
};

/// Writes the trace of `source` anew: kept events byte for byte and in order, added ones behind
/// them, the members beside traceEvents where they are JSON. An object stays an object and a bare
/// list a list; what was cut off or damaged is closed, so that the copy is whole. Finishes `sink`.
/// kCancelled when stopped.
base::Result<CopyCounts> CopyTrace(io::ByteSource& source, const CopyPlan& plan,
                                   const CopyHooks& hooks, io::ByteSink& sink);

}  // namespace layerscope::document
