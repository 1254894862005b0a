#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/attribution/attribution.h"
#include "src/base/result.h"
#include "src/layers/layer_structure.h"
#include "src/model/model_config.h"
#include "src/model/profile.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// What the user and the config say about the layers.
struct LayerOptions {
  std::string anchor;  ///< --anchor-kernel: text or /regex/; empty = none
  bool anchor_is_boundary = false;
  std::optional<int64_t> blocks_per_layer;
  std::optional<int64_t> anchor_offset;
  std::optional<int64_t> num_layers;
  std::optional<std::string> pid, device, stream;  ///< as Selection has them
  const model::ModelConfig* config = nullptr;      ///< may be null
  const model::Profile* profile = nullptr;         ///< must be set
  std::string profile_why;
};

/// The code of the abstention of FindLayers where no kernel ran in what was looked at.
inline constexpr std::string_view kNoKernels = "no_kernels";

/// Finds passes and layers of one device and one host process. kFailed (exit 1) for the rejections
/// of formats/profiles.md, with the residue, what exists and what to try; where the trace does not
/// support an answer the result is an abstention.
base::Result<LayerStructure> FindLayers(const trace::Trace& trace,
                                        const attribution::Attribution& attribution,
                                        const LayerOptions& options);

}  // namespace layerscope::layers
