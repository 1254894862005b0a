#pragma once

#include <cstdint>
#include <string_view>

#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {

enum class NodeKind : uint8_t { kKernel, kCopy, kSet };

/// A kernel that copies or sets memory is a copy in one trace and a kernel in another
/// (formats/kineto.md): what the name says, kKernel for all other kernels.
NodeKind KindOfName(std::string_view kernel_name);

/// Symbols of copies and sets, whatever their driver calls them; names are numbered below.
inline constexpr uint32_t kCopySymbol = kUnmatched - 1;
inline constexpr uint32_t kSetSymbol = kUnmatched - 2;
/// Of a recorded kernel whose launch does not name it: no name of either side is numbered so.
inline constexpr uint32_t kUnnamed = kUnmatched - 3;

}  // namespace layerscope::replay
