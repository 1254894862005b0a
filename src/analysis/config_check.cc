#include "src/analysis/config_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/analysis/module_nodes.h"
#include "src/analysis/workload_guess.h"
#include "src/layers/config_mismatch.h"

namespace layerscope::analysis {

std::optional<table::HealthEntry> ConfigMismatch(const AnalysisInput& input, const RankView& view) {
  if (input.config == nullptr || input.config->architectures.empty()) return std::nullopt;
  const ModuleNodes nodes = BuildModuleNodes(RankView(view.input(), view.rules()));
  const Guess model = GuessModel(nodes.nodes, nodes.total_ns);
  if (model.source != kModelClassSource) return std::nullopt;
  const std::vector<std::string>& known = input.config->architectures;
  if (std::find(known.begin(), known.end(), model.value) != known.end()) return std::nullopt;
  return layers::ConfigMismatch(
      1, fmt::format("The trace's model is {}, the config's is {}: layer types and numbers of "
                     "layers may be another model's.",
                     model.value, fmt::join(known, ", ")));
}

void WarnOfMismatch(const AnalysisInput& input, const RankView& view, table::RankResult& result) {
  if (std::optional<table::HealthEntry> entry = ConfigMismatch(input, view)) {
    result.warnings.push_back(*std::move(entry));
  }
}

}  // namespace layerscope::analysis
