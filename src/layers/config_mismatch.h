#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "src/table/result.h"

namespace layerscope::layers {

/// `config_mismatch`, a warning: the config is another model's. Two signs tell it, each with its
/// own words: experts that run where the config has none (expert_check.h), and the class of the
/// model's root module (analysis/config_check.h).
inline table::HealthEntry ConfigMismatch(int64_t count, std::string why) {
  return {"config_mismatch", table::Severity::kWarning, count, std::move(why)};
}

}  // namespace layerscope::layers
