#pragma once

#include <cstddef>
#include <string>

#include "src/analysis/analysis.h"
#include "src/analysis/layer_sums.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"
#include "src/layers/layer_structure.h"
#include "src/table/table.h"

namespace layerscope::analysis {

struct RangesOptions {
  Selection selection;  ///< `passes`: the passes to list; absent = all
  Presentation presentation;
  std::string layers;  ///< "2,3,38" or "0..3,38"; empty = all
};

/// `ranges`: where passes and layers lie on the time line, as Perfetto shows it. kUsage for a list
/// of layers that is none, kNotFound for a pass or layer that is not there.
base::Result<Output> ComputeRanges(const AnalysisInput& input, const RangesOptions& options);

/// The ranges of one pass and its layers.
table::Table RangeTableOf(const layers::LayerStructure& structure, const StructureSums& sums,
                          size_t pass);

}  // namespace layerscope::analysis
