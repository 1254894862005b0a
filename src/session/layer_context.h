#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/layers/find_layers.h"
#include "src/model/model_config.h"
#include "src/model/parallel_layout.h"
#include "src/model/profile.h"
#include "src/session/option.h"
#include "src/table/result.h"

namespace layerscope::session {

/// What the options say of the model: its config, the profile that follows from it or was named,
/// how layers are to be found, and how the model is spread over GPUs.
struct LayerContext {
  std::shared_ptr<const model::ModelConfig> config;  ///< null: neither named nor found
  std::shared_ptr<const model::Profile> profile;     ///< never null
  model::ParallelLayout parallel;
  layers::LayerOptions options;  ///< points into the members above
  std::optional<int64_t> rank;   ///< --rank: one of several processes of a file, where it has many
  /// What became of a config that nobody named.
  std::vector<table::HealthEntry> health;
  /// Such a one that cannot be used, with the reason; --strict refuses that.
  std::optional<std::string> unused;
};

/// Reads the options of LayerOptionSpecs() (absent ones are unknown) and the files that they name.
/// Errors say which option they come from. Without --config, and unless --no-side-files is given,
/// the config is that of `configs_beside` (ConfigsBeside), where those are of one content.
base::Result<LayerContext> LoadLayerContext(const OptionValues& values,
                                            const std::vector<std::string>& configs_beside = {});

}  // namespace layerscope::session
