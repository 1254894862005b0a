#pragma once

#include <cstdint>
#include <string>

namespace layerscope::ingest::nsys {

/// The name of a copy as the PyTorch profiler writes it, "Memcpy HtoD (Pageable -> Device)".
/// `kind` is an id of ENUM_CUDA_MEMCPY_OPER, the others of ENUM_CUDA_MEM_KIND; -1 = not recorded.
std::string MemcpyName(int64_t kind, int64_t source, int64_t destination);

/// "Memset (Device)".
std::string MemsetName(int64_t memory);

}  // namespace layerscope::ingest::nsys
