#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/io/byte_source.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::kineto {

struct ReadOptions {
  /// Threads that decompress and parse; 0 = one a core. The result is identical for every number.
  int threads = 0;
  /// Bytes of one slice; the result is identical for every size (the fuzzer varies it).
  size_t chunk_bytes = size_t{1} << 20;
  /// Only `counts`, `ledger` and `metadata` are filled: for checking a file that was written.
  bool counts_only = false;
  /// Polled between slices; kCancelled when requested.
  const base::StopFlag* stop = nullptr;
  /// Told the bytes of the file consumed so far; called from any thread, one at a time.
  std::function<void(int64_t)> progress;
};

/// Reads a PyTorch profiler trace (formats/kineto.md) with bounded memory. What cannot be read is
/// in the trace's ledger. kInvalidInput, naming what the file is, when it is no such trace. Times
/// are relative to the trace's own zero.
base::Result<trace::Trace> ReadTrace(io::ByteSource& source, const ReadOptions& options);

}  // namespace layerscope::ingest::kineto
