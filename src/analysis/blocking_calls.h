#pragma once

#include <string_view>

namespace layerscope::analysis {

/// Whether a call of the CUDA or HIP API returns only when earlier work of the GPU is done. Its
/// name starts with cuda, cu or hip, and either says Synchronize (cudaStreamSynchronize,
/// hipEventSynchronize …), or goes on with Memcpy and does not say Async (cudaMemcpy,
/// cuMemcpyDtoH_v2, hipMemcpyWithStream …). Suffixes (`_v3020`, `_ptsz`) do not matter. Calls that
/// block for other reasons (cudaMalloc, cudaFree, a launch into a full queue) are none.
bool IsSynchronisingCall(std::string_view name);

/// Whether a call may block: one that says Synchronize, Memcpy or Wait (cudaStreamWaitEvent too).
/// Copies that do not block are short and cover no long gap.
bool MayBlock(std::string_view name);

}  // namespace layerscope::analysis
