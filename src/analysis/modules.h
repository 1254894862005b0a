#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct ModulesOptions {
  Selection selection;
  Presentation presentation;
  std::optional<int64_t> depth;  ///< deeper modules are not listed; absent = as deep as fits
  std::string root;              ///< only this module and below, named as in Selection; empty = all
  std::string match;             ///< regular expression on the path; empty = all
  /// Runs of like siblings as one row. Absent: for people yes, for machines no.
  std::optional<bool> collapse;
  std::string rollup;  ///< "class", "path" or a regular expression; empty = the tree
};

/// `modules`: the module tree with inclusive, exclusive and busy time, or its roll-up. kUsage for a
/// regular expression that is none and for a depth of 0, kNotFound for a root, match or roll-up
/// that means no module.
base::Result<Output> ComputeModules(const AnalysisInput& input, const ModulesOptions& options);

}  // namespace layerscope::analysis
