#pragma once

#include <cstdint>
#include <optional>

#include "src/analysis/analysis.h"
#include "src/analysis/kernel_rows.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct KernelsOptions {
  Selection selection;
  Presentation presentation;
  KernelsBy by = KernelsBy::kName;
  /// False: with a layer selected, rows are its single kernels (layer_kernels.h).
  bool by_is_given = false;
  std::optional<int64_t> compare_layer;  ///< against the selected layer
  bool compute_flow = false;  ///< the kernels of one layer a type, or of the selected layer
};

/// `kernels`: the selected activities grouped, ranked by the sum of their lengths. Activities
/// without an op or a module form a row of their own, so that rows always sum to the total. By op,
/// the copies and sets of an op are a row beside its kernels ("aten::mm (copies)"). By layer, the
/// layers of all selected passes, [head], [tail] and [outside any pass] are rows.
base::Result<Output> ComputeKernels(const AnalysisInput& input, const KernelsOptions& options);

}  // namespace layerscope::analysis
