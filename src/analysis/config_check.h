#pragma once

#include <optional>

#include "src/analysis/analysis.h"
#include "src/analysis/rank_view.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// `config_mismatch`, a warning: the trace's model class is none of the config's architectures.
/// Absent without a config, without its architectures, and where no module names the model.
std::optional<table::HealthEntry> ConfigMismatch(const AnalysisInput& input, const RankView& view);

/// Adds it to the result of an analysis that reads the config.
void WarnOfMismatch(const AnalysisInput& input, const RankView& view, table::RankResult& result);

}  // namespace layerscope::analysis
