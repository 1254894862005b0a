#pragma once

#include <string>

#include "src/model/config_fields.h"

namespace layerscope::model {

/// How a config says that the weights are stored, in few words: "fp8 128x128", "nvfp4", "mxfp4",
/// "awq int4 group 128", "fp8 128x128, experts nvfp4"; empty when it says nothing. Reads
/// `quantization_config` (older: `compression_config`) as transformers, compressed-tensors,
/// ModelOpt and the makers of the models write it, and `expert_dtype`.
std::string QuantizationText(ConfigFields& fields);

}  // namespace layerscope::model
