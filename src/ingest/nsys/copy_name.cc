#include "src/ingest/nsys/copy_name.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace layerscope::ingest::nsys {
namespace {

/// By id of ENUM_CUDA_MEMCPY_OPER (formats/nsys_schema.md), in PyTorch's words. It has none for
/// the copies of unified memory.
constexpr std::array<std::string_view, 14> kCopies = {
    "Unknown", "HtoD", "DtoH", "HtoA", "AtoH",         "AtoA",         "AtoD",
    "DtoA",    "DtoD", "HtoH", "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD",
};

/// By id of ENUM_CUDA_MEM_KIND.
constexpr std::array<std::string_view, 8> kMemories = {
    "Pageable", "Pinned",        "Device",         "Array",
    "Managed",  "Device Static", "Managed Static", "Unknown",
};

template <size_t kSize>
std::string_view WordOf(const std::array<std::string_view, kSize>& words, int64_t id) {
  return id >= 0 && id < static_cast<int64_t>(kSize) ? words[static_cast<size_t>(id)] : "Unknown";
}

}  // namespace

std::string MemcpyName(int64_t kind, int64_t source, int64_t destination) {
  return fmt::format("Memcpy {} ({} -> {})", WordOf(kCopies, kind), WordOf(kMemories, source),
                     WordOf(kMemories, destination));
}

std::string MemsetName(int64_t memory) {
  return fmt::format("Memset ({})", WordOf(kMemories, memory));
}

}  // namespace layerscope::ingest::nsys
