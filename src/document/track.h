#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/document/nested_runs.h"
#include "src/trace/trace.h"

namespace layerscope::document {

enum class TrackKind : uint8_t { kPasses, kLayers, kBlocks, kModules };

/// One track that `annotate` adds beside a GPU stream.
struct Track {
  TrackKind kind = TrackKind::kPasses;
  trace::ProcessId process;
  trace::StreamId stream;
  std::shared_ptr<const std::vector<Run>> runs;  ///< of the stream; shared by its tracks
  std::optional<uint32_t> level;                 ///< only runs of this level; absent = all
  int64_t n_runs = 0;                            ///< how many that are

  bool Shows(const Run& run) const { return !level || run.level == *level; }
};

}  // namespace layerscope::document
