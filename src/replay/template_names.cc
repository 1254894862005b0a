#include "src/replay/template_names.h"

#include <array>

namespace layerscope::replay {
namespace {

struct Family {
  std::string_view model_type;  ///< of the text model
  std::string_view ffn = "mlp";
  std::string_view router = "gate";
  bool norms_queries = false;
  std::string_view linear_mixer = {};
};

// Families with input_layernorm and post_attention_layernorm around self_attn and a feed-forward
// part. Not here on purpose: more norms (Gemma, GLM-4 dense, OLMo 2), parallel halves (Cohere),
// other names (GPT-2, GPT-NeoX, Falcon), one block a layer (Nemotron-H), hyper-connections.
constexpr std::array kFamilies = {
    Family{.model_type = "llama"},
    Family{.model_type = "mistral"},
    Family{.model_type = "ministral3"},
    Family{.model_type = "qwen2"},
    Family{.model_type = "qwen2_moe"},
    Family{.model_type = "qwen3", .norms_queries = true},
    Family{.model_type = "qwen3_moe", .norms_queries = true},
    Family{.model_type = "qwen3_vl_text", .norms_queries = true},
    Family{.model_type = "qwen3_vl_moe_text", .norms_queries = true},
    Family{.model_type = "qwen3_next", .norms_queries = true, .linear_mixer = "linear_attn"},
    Family{.model_type = "qwen3_5_text", .norms_queries = true, .linear_mixer = "linear_attn"},
    Family{.model_type = "qwen3_5_moe_text", .norms_queries = true, .linear_mixer = "linear_attn"},
    Family{.model_type = "mixtral", .ffn = "block_sparse_moe"},
    Family{.model_type = "minimax_m2", .ffn = "block_sparse_moe", .norms_queries = true},
    Family{.model_type = "gpt_oss", .router = "router"},
    Family{.model_type = "phi3"},
    Family{.model_type = "mimo"},
    Family{.model_type = "seed_oss"},
    Family{.model_type = "glm4_moe", .norms_queries = true},
    Family{.model_type = "llama4_text", .ffn = "feed_forward", .router = "router"},
    Family{.model_type = "deepseek_v2"},
    Family{.model_type = "deepseek_v3"},
    Family{.model_type = "deepseek_v32"},
    Family{.model_type = "kimi_k2"},
    Family{.model_type = "glm_moe_dsa"},
};

const Family* FindFamily(std::string_view model_type) {
  for (const Family& family : kFamilies) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

}  // namespace

std::optional<TemplateNames> NamesOf(const model::ModelConfig& config) {
  const Family* const family = FindFamily(config.model_type);
  if (family == nullptr) return std::nullopt;
  TemplateNames names;
  names.prefix = config.outer_type == config.model_type ? "model" : "language_model.model";
  names.mixer = "self_attn";
  names.ffn = family->ffn;
  names.router = family->router;
  names.linear_mixer = family->linear_mixer;
  // GLM-4.5 and its like say in the config whether a model of the family has them.
  names.norms_queries =
      family->norms_queries && (family->model_type != "glm4_moe" || config.HasKey("use_qk_norm"));
  names.latent = config.kv_lora_rank.has_value();
  names.shared_experts = config.experts.n_shared.value_or(0) > 0 || family->ffn == "feed_forward";
  return names;
}

}  // namespace layerscope::replay
