#include "src/model/attention_name.h"

#include <algorithm>
#include <string_view>

namespace layerscope::model {
namespace {

bool HasBase(const ModelConfig& config, std::string_view base) {
  return std::any_of(config.layers.begin(), config.layers.end(), [&](const PlannedLayer& layer) {
    return std::string_view(layer.type).substr(0, layer.type.find('+')) == base;
  });
}

/// By heads and ranks alone.
std::string HeadsName(const ModelConfig& config) {
  if (config.kv_lora_rank) return "MLA";
  if (!config.num_attention_heads) return {};
  const int64_t heads = *config.num_attention_heads;
  const int64_t kv_heads = config.num_key_value_heads.value_or(heads);
  if (kv_heads == heads) return "MHA";
  return kv_heads == 1 ? "MQA" : "GQA";
}

}  // namespace

std::string AttentionName(const ModelConfig& config) {
  if (config.HasKey("compress_ratios") || HasBase(config, "CSA_C4") ||
      HasBase(config, "HCA_C128")) {
    return "CSA/HCA";
  }
  std::string name = HasBase(config, "DSA") ? "DSA" : HeadsName(config);
  const bool linear = HasBase(config, "LINEAR") || HasBase(config, "MAMBA");
  if (!linear) return name;
  const bool other =
      std::any_of(config.layers.begin(), config.layers.end(),
                  [](const PlannedLayer& layer) { return !layer.type.starts_with("LINEAR"); });
  if (!other) return "linear";
  return name.empty() ? "hybrid (linear)" : "hybrid (linear + " + name + ")";
}

}  // namespace layerscope::model
