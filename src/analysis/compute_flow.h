#pragma once

#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/kernels.h"
#include "src/analysis/layers.h"
#include "src/base/result.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// `kernels --format compute-flow`: the kernels of the selected layer, else of one representative
/// layer a type, longest first, each with its position, half, category, share and input dims.
base::Result<Output> ComputeFlow(const AnalysisInput& input, const KernelsOptions& options);

/// The activities of one layer of a pass.
RankView ViewOfLayer(const PassLayers& layers, int64_t index);

/// One table a cluster: the kernels of its layer with the median wall. `rows` of each; 0 = all.
std::vector<table::Block> FlowBlocks(const PassLayers& layers, const model::Profile* profile,
                                     int64_t rows, bool full_names);

}  // namespace layerscope::analysis
