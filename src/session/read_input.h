#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/session/input_files.h"
#include "src/trace/trace.h"

namespace layerscope::session {

struct ReadInputOptions {
  int threads = 0;         ///< 0 = one a core
  size_t chunk_bytes = 0;  ///< 0 = the reader's own; of traces alone
  const base::StopFlag* stop = nullptr;
  /// Told the bytes of the file that are done; from any thread, one at a time.
  std::function<void(int64_t)> progress;
};

/// Reads one file with the reader of its kind (input_kind.h): a trace, a database, or a report that
/// is exported first. kInvalidInput, by what it is, for everything else.
base::Result<trace::Trace> ReadInput(const InputFile& file, const ReadInputOptions& options);

/// Memory that reading `files` is expected to take, in bytes; files of unknown size count nothing.
int64_t EstimateMemory(const std::vector<InputFile>& files);

}  // namespace layerscope::session
