#pragma once

#include <string>
#include <vector>

#include "src/model/config_fields.h"

namespace layerscope::model {

/// The base of each layer's type ("CSA_C4", "DSA", "SWA", "LINEAR", "MAMBA", …).
struct AttentionPlan {
  std::vector<std::string> types;  ///< one a layer
  /// A layer is one block (Mamba, attention, MLP or MoE), so that no DENSE or MOE is added.
  bool one_block_a_layer = false;
};

/// Reads the per-layer fields of a config, the most explicit first: compress ratios, a pattern
/// text, lists of words, ids of linear layers, periods, sliding windows. A config without any has
/// FULL layers, or DSA where it has an indexer. docs/profiles.md lists the fields; the sources are
/// formats of the published configs and the modelling code of transformers, vLLM and SGLang.
AttentionPlan PlanAttention(ConfigFields& fields);

}  // namespace layerscope::model
