#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "src/trace/trace.h"

namespace layerscope::ingest::kineto {

/// The members of a trace document beside `traceEvents`, as text: those before it (ending with a
/// comma) and those behind it (beginning with a comma, with the closing brace).
struct MetadataText {
  std::string before;
  std::string after;
};

struct MetadataOutcome {
  bool readable = true;
  bool is_viztracer = false;
  bool has_second_list = false;  ///< another traceEvents stands behind the first
  /// By pid as text, of a copy that layerscope made (document/copied_ranks.h).
  std::map<std::string, int64_t> process_ranks;
};

/// Reads devices, rank, world size and what the profiler recorded.
MetadataOutcome ReadMetadata(const MetadataText& text, trace::Metadata& metadata);

}  // namespace layerscope::ingest::kineto
