#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct SummaryOptions {
  Selection selection;
  Presentation presentation;
  /// The inputs as the user named them, for the commands of `next`; empty: the files' own paths.
  std::vector<std::string> inputs{};
  /// Options that say what the model is, as given, for those commands: {"config", "c.json"}.
  std::vector<std::pair<std::string, std::string>> model_options{};
};

/// `summary`: the one page. What ran, how busy the GPU was, where its time went by module, category
/// and kernel, the steps by phase, what is suspicious, and what to run next.
base::Result<Output> ComputeSummary(const AnalysisInput& input, const SummaryOptions& options);

}  // namespace layerscope::analysis
