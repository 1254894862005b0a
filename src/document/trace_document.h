#pragma once

#include "src/document/trace_copy.h"
#include "src/table/result.h"

namespace layerscope::document {

/// A trace to be written, made of one that was read. What it was made of must outlive it.
struct TraceDocument {
  CopyPlan plan;
  /// What the envelope says beside the counts; complete once the copy is made.
  table::RankResult result;
};

}  // namespace layerscope::document
