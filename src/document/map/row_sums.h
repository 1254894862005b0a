#pragma once

#include <cstdint>

#include "src/analysis/rank_view.h"
#include "src/table/value.h"

namespace layerscope::document {

/// Sums over activities; times in nanoseconds.
struct RowSums {
  int64_t gpu_ns = 0;  ///< kernels, copies, sets; of a CPU-only trace self time of ops
  int64_t kernel_ns = 0;
  int64_t kernels = 0;

  void AddRow(const analysis::RankView& view, uint32_t row);
  /// Under the keys gpu_ns, kernel_ns, kernels.
  void WriteTo(table::Object& object) const;
};

}  // namespace layerscope::document
