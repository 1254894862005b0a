#pragma once

#include "src/analysis/analysis.h"
#include "src/document/map/nodes.h"
#include "src/table/value.h"

namespace layerscope::document {

/// model, device, gpu, dtype, engine, config, mode, phases, iterations: from the config where one
/// is given, else from the trace; null when neither says.
void AddContext(const analysis::AnalysisInput& input, const Execution& execution,
                table::Object& root);

/// The forwards in time order, and `outside`: what belongs to none.
table::Array PassList(const Execution& execution);

/// Null when unknown.
table::Value RankValue(const ExecutionRank& rank);
table::Value PidValue(const ExecutionRank& rank);

}  // namespace layerscope::document
