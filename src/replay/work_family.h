#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::replay {

/// What kind of work a kernel or an op does, coarse enough for both to be read from their names.
enum class WorkFamily : uint8_t {
  kUnknown,
  kGemm,
  kAttention,
  kNorm,
  kFeedForward,
  kRope,
  kCacheWrite,
  kCommunication,
  kElementwise,  ///< copies, casts, quantisation, gathers, single operations
};

/// Both are meant for unique names.
WorkFamily FamilyOfKernel(std::string_view kernel_name);
/// Of a framework op: "aten::mm", "vllm::unified_attention_with_output".
WorkFamily FamilyOfOp(std::string_view op_name);

/// Does an op named like the Triton kernel that it launches (Inductor: "triton_poi_fused_0") agree?
bool NamesItsKernel(std::string_view op_name);

}  // namespace layerscope::replay
