#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/model/model_config.h"

namespace layerscope::replay {

/// How the modules of a model family are called. Source: the modelling code of transformers for the
/// module names, of vLLM and SGLang for projections that these two merge (qkv_proj, gate_up_proj)
/// and for the attention core (`self_attn.attn`), which have no name of their own there.
struct TemplateNames {
  std::string prefix;             ///< before `layers.7`: "model", "language_model.model"
  std::string_view mixer;         ///< "self_attn"
  std::string_view ffn;           ///< "mlp"
  std::string_view router;        ///< of a mixture of experts: "gate"
  std::string_view linear_mixer;  ///< of linear layers; empty: the family has none
  bool norms_queries = false;     ///< q_norm and k_norm before the attention
  bool latent = false;            ///< MLA: projections before the attention have no fixed order
  bool shared_experts = false;    ///< run beside the routed ones

  std::string Layer(int64_t index) const { return prefix + ".layers." + std::to_string(index); }
};

/// Absent for families that are not known here, or whose layers are not an input norm, a mixer, a
/// post-attention norm and a feed-forward part in this order.
std::optional<TemplateNames> NamesOf(const model::ModelConfig& config);

}  // namespace layerscope::replay
