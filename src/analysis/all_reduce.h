#pragma once

#include <string_view>

namespace layerscope::analysis {

/// Whether a kernel reduces over all ranks, by its name: NCCL's and RCCL's, the one- and two-shot
/// kernels of vLLM, SGLang, TensorRT-LLM and AITER, symmetric memory, also fused with a norm. What
/// AR# counts.
bool IsAllReduce(std::string_view kernel_name);

}  // namespace layerscope::analysis
