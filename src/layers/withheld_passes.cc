#include "src/layers/withheld_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace layerscope::layers {
namespace {

constexpr const char* kWholeGraphs =
    "their graphs were recorded without kernels, --cuda-graph-trace=node records them";

/// Reasons and how many passes each explains, in order of the first.
using Reasons = std::vector<std::pair<std::string, int64_t>>;

/// 1: a graph that was recorded as a whole is of the pass.
std::vector<uint8_t> PassesWithGraphs(const trace::Trace& trace, const TargetRows& target,
                                      const LayerStructure& out) {
  std::vector<uint8_t> has(out.passes.size(), 0);
  for (const uint32_t row : target.rows) {
    if (trace.activities.kind[row] != trace::ActivityKind::kGraph) continue;
    if (out.pass[row].valid()) has[out.pass[row].index()] = 1;
  }
  return has;
}

void Count(const std::string& reason, Reasons& reasons) {
  const auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&](const auto& entry) { return entry.first == reason; });
  if (known != reasons.end()) {
    ++known->second;
  } else {
    reasons.emplace_back(reason, 1);
  }
}

/// "why", or of several "why (4); why (1)".
std::string TextOf(const Reasons& reasons) {
  if (reasons.size() == 1) return reasons.front().first;
  std::string text;
  for (const auto& [reason, n] : reasons) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", reason, n);
  }
  return text;
}

}  // namespace

std::optional<table::HealthEntry> PassesWithoutLayers(const trace::Trace& trace,
                                                      const TargetRows& target,
                                                      const std::vector<PlacedPass>& placed,
                                                      const LayerStructure& out) {
  const std::vector<uint8_t> has_graphs = PassesWithGraphs(trace, target, out);
  Reasons reasons;
  int64_t n = 0;
  for (size_t i = 0; i < out.passes.size(); ++i) {
    const table::Abstention& abstained = placed[i].abstained;
    const bool is_graph = has_graphs[i] != 0;
    if (out.passes[i].n_layers > 0 || (abstained.code.empty() && !is_graph)) continue;
    ++n;
    Count(is_graph ? kWholeGraphs : abstained.why, reasons);
  }
  if (n == 0) return std::nullopt;
  return table::HealthEntry{
      "passes_without_layers", table::Severity::kWarning, n,
      fmt::format("{} no layers: {}", n == 1 ? "1 pass shows" : fmt::format("{} passes show", n),
                  TextOf(reasons))};
}

}  // namespace layerscope::layers
