#pragma once

#include <string>
#include <string_view>

namespace layerscope::kernel_names {

/// What a kernel template that only launches something really runs, read from its template
/// arguments.
struct Payload {
  std::string_view name;    ///< the functor or class: "direct_copy_kernel_cuda", "GemmUniversal"
  std::string_view origin;  ///< its outermost namespace: "at", "cutlass"; may be empty
  std::string_view dtype;   ///< "bf16", "fp8_e4m3", "i64"; empty when no type is named
  std::string tile;         ///< "128x128x64"; empty when none is named
};

/// True for templates whose own name says nothing ("elementwise_kernel", "device_kernel",
/// "kentry").
bool IsLauncher(std::string_view own_name);

/// Reads the payload of a launcher's template arguments; `name` is empty when there is none.
Payload FindPayload(std::string_view own_name, std::string_view arguments);

/// "bf16" for "__nv_bfloat16", "BFloat16", "bfloat16_t", …; empty for what is no element type.
std::string_view ElementType(std::string_view type_name);

}  // namespace layerscope::kernel_names
