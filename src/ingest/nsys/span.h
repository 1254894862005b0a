#pragma once

#include "src/ingest/nsys/batch.h"
#include "src/ingest/nsys/table_scan.h"

namespace layerscope::ingest::nsys {

struct Span {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
};

/// Checks that a row has no bad value and that its times are within the limits of DESIGN.md section
/// 7, and moves the batch's bounds. False, with an entry in the ledger, when the row is of no use.
bool TakeSpan(const Row& row, int64_t start_ns, int64_t end_ns, Batch& batch, Span& span);
/// The same for a range that was never closed.
bool TakeOpenSpan(const Row& row, int64_t start_ns, Batch& batch, Span& span);

}  // namespace layerscope::ingest::nsys
