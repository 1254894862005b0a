#pragma once

#include <optional>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/pass_rows.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct PassesOptions {
  Selection selection;
  Presentation presentation;
};

/// `passes`: every forward through all layers in time order, with its layers' average wall time,
/// how the passes and layers were found, and what lies outside of every pass. Passes and outside
/// add up to the selection's total.
base::Result<Output> ComputePasses(const AnalysisInput& input, const PassesOptions& options);

/// Every key of CLI.md.
table::Table PassTableForMachines(const RankView& view, std::vector<PassRow> rows);
/// The passes as people see them.
table::Table PassTable(const RankView& view, std::vector<PassRow> rows);

}  // namespace layerscope::analysis
