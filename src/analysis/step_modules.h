#pragma once

#include <vector>

#include "src/analysis/rank_view.h"
#include "src/analysis/step_rows.h"
#include "src/analysis/step_sweep.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// `steps --by module`: one row a step and module: steps in time order, the modules of each by
/// time. What a step spent in no module is its row `[unattributed]`. `steps` are those of
/// BuildStepRows.
table::Table StepModuleTable(const RankView& view, const std::vector<StepRow>& steps);

/// The same for people: one row a step and module class, by time.
table::Table StepClassTable(const RankView& view, const std::vector<StepRow>& steps);

/// The same as samples, for sweeps and reductions: one a step and path, or a step and class.
std::vector<StepSample> StepModuleSamples(const RankView& view, const std::vector<StepRow>& steps);
std::vector<StepSample> StepClassSamples(const RankView& view, const std::vector<StepRow>& steps);

}  // namespace layerscope::analysis
