#include "src/layers/expert_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace layerscope::layers {
namespace {

bool HasExperts(const model::PlannedLayer& layer) {
  return layer.type.ends_with("MOE");
}

/// What the layers of one pass show of their FFNs.
struct Count {
  size_t planned = 0;  ///< layers that the config gives experts, and that show an FFN
  size_t without = 0;  ///< of those: no expert kernel
  size_t dense = 0;    ///< layers that the config gives none, and that show an FFN
  size_t with = 0;     ///< of those: expert kernels
  size_t n_seen() const { return planned + dense; }
  bool contradicts() const { return 2 * (without + with) > n_seen(); }
};

Count CountIn(const PlacedPass& pass, const model::ModelConfig& config) {
  Count count;
  for (const PlacedLayer& layer : pass.layers) {
    if (layer.cut || layer.index < 0) continue;
    if (static_cast<size_t>(layer.index) >= config.layers.size()) continue;
    bool ffn = false, experts = false;
    for (uint32_t i = layer.begin; i < layer.end; ++i) {
      const KernelTraits& traits = pass.group->tokens[i].traits;
      ffn |= traits.kind == KernelClass::kFfn;
      experts |= traits.kind == KernelClass::kFfn && traits.experts;
    }
    if (!ffn) continue;
    if (HasExperts(config.layers[static_cast<size_t>(layer.index)])) {
      ++count.planned;
      count.without += experts ? 0 : 1;
    } else {
      ++count.dense;
      count.with += experts ? 1 : 0;
    }
  }
  return count;
}

std::string Explain(const Count& count, const model::ModelConfig& config) {
  const auto planned = std::count_if(config.layers.begin(), config.layers.end(), HasExperts);
  const size_t n_running = count.planned - count.without + count.with;
  return fmt::format(
      "the config has experts in {} of {} layers, {} an expert kernel: is it this "
      "model's config?",
      planned, config.layers.size(),
      n_running == 0   ? "no layer runs"
      : n_running == 1 ? "1 layer runs"
                       : fmt::format("{} layers run", n_running));
}

}  // namespace

ExpertMismatch FindExpertMismatch(const std::vector<PlacedPass>& passes,
                                  const model::ModelConfig& config) {
  ExpertMismatch mismatch;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].is_draft() || passes[i].layers.empty()) continue;
    const Count count = CountIn(passes[i], config);
    if (!count.contradicts()) continue;
    if (mismatch.passes.empty()) mismatch.why = Explain(count, config);
    mismatch.passes.push_back(i);
  }
  return mismatch;
}

}  // namespace layerscope::layers
