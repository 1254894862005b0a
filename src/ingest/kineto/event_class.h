#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::ingest::kineto {

/// What a complete event (ph X) is to us, by its `cat`.
enum class EventClass : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCall,  ///< runtime or driver API call
  kOp,
  kAnnotation,
  kGpuAnnotation,
  kPythonFunction,  ///< a frame; an nn.Module scope when its name says so
  kGraphNode,       ///< a node of a CUDA graph, as documents made of a database have it
  kForeign,         ///< an accelerator that is not a GPU (MTIA)
  kOther,           ///< counted only
};

/// Names of all writers since 2020, case set aside (formats/kineto.md, Categories).
EventClass ClassifyCategory(std::string_view cat);

}  // namespace layerscope::ingest::kineto
