#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace layerscope::kernel_names {

/// Short names are cut in the middle ("…") beyond this many bytes.
inline constexpr size_t kMaxShortBytes = 64;

/// A name that people can read and paste: templates and namespaces folded, dtype and tile kept
/// ("nvjet_tst_128x64", "fused_moe_kernel", "elementwise_kernel<direct_copy bf16>"), at most
/// kMaxShortBytes. Distinct kernels may share a short name; the full name stays in JSON.
std::string ShortName(std::string_view name);

}  // namespace layerscope::kernel_names
