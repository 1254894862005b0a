#pragma once

#include <cstdint>
#include <vector>

#include "src/model/config_fields.h"

namespace layerscope::model {

/// The feed-forward half of a layer.
struct FeedForward {
  enum class Kind : uint8_t { kPlain, kDense, kExperts };
  Kind kind = Kind::kPlain;
  bool hash = false;  ///< routes by token id
};

/// How many experts a config has: more than one, or none. Several names; a list (one number a layer
/// or a modality) counts by its largest.
int64_t CountExperts(ConfigFields& fields);

/// One entry a layer. Without experts all are kPlain: the model has one kind. With experts every
/// layer is kDense or kExperts.
/// Sources of the rules: the config and modelling classes of transformers, vLLM and SGLang for the
/// families that use each key (docs/profiles.md lists them).
std::vector<FeedForward> PlanFeedForward(ConfigFields& fields);

}  // namespace layerscope::model
