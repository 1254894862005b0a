#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace layerscope::kernel_names {

/// Names reach megabytes in damaged traces; of a longer name only this much is looked at.
inline constexpr size_t kMaxNameBytes = size_t{16} << 10;
/// Categories look at this much of a name; kernels differ long before.
inline constexpr size_t kMaxMatchBytes = size_t{2} << 10;

/// Itanium-mangled names ("_ZN…", also with ROCm's suffix ".kd") demangled; every other name as it
/// is. Never fails: a name that the C++ runtime cannot demangle (newer mangling, truncated, or
/// built to expand without bound) becomes an outline, "aiter::act_and_mul_kernel<__hip_bfloat16,
/// ...>(...)".
std::string Demangle(std::string_view name);

/// The kernel's own function name: return type, parameters, template arguments and namespaces set
/// aside ("void vllm::reshape_and_cache_flash_kernel<…>(…)" -> "reshape_and_cache_flash_kernel").
/// A name that is no C++ signature ("aten::mm", "Memcpy HtoD (Pinned -> Device)") is kept whole.
std::string OwnName(std::string_view name);

/// What categories match on: the own name with its namespaces ("deep_gemm::fp8_gemm_kernel"), for
/// only they tell DeepEP's `dispatch` from any other. Kernels that merely launch a functor are
/// known by it, so it stays: "at::native::vectorized_elementwise_kernel<FillFunctor bf16>",
/// "cutlass::device_kernel<GemmUniversal 128x128x64 bf16>". At most kMaxMatchBytes.
std::string MatchName(std::string_view name);

}  // namespace layerscope::kernel_names
