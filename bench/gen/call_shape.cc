#include "bench/gen/call_shape.h"

namespace layerscope::gen {
namespace {

// ROCm's writer gives no callback ids and has one category of calls.
CallShape HipShape(CallKind kind) {
  switch (kind) {
    case CallKind::kLaunchKernel:
      return {"hipLaunchKernel", 0, false};
    case CallKind::kGraphLaunch:
      return {"hipGraphLaunch", 0, false};
    case CallKind::kMemcpyAsync:
      return {"hipMemcpyWithStream", 0, false};
    case CallKind::kMemsetAsync:
      return {"hipMemsetAsync", 0, false};
    default:
      return {"hipModuleLaunchKernel", 0, false};
  }
}

}  // namespace

CallShape ShapeOf(CallKind kind, bool amd) {
  if (amd) return HipShape(kind);
  switch (kind) {
    case CallKind::kLaunchKernel:
      return {"cudaLaunchKernel", 211, false};
    case CallKind::kLaunchKernelExC:
      return {"cudaLaunchKernelExC", 430, false};
    case CallKind::kDriverLaunchKernel:
      return {"cuLaunchKernel", 307, true};
    case CallKind::kDriverLaunchKernelEx:
      return {"cuLaunchKernelEx", 652, true};
    case CallKind::kGraphLaunch:
      return {"cudaGraphLaunch", 311, false};
    case CallKind::kMemcpyAsync:
      return {"cudaMemcpyAsync", 41, false};
    case CallKind::kMemsetAsync:
      return {"cudaMemsetAsync", 51, false};
    case CallKind::kOther:
      break;
  }
  return {"cudaPeekAtLastError", 11, false};
}

}  // namespace layerscope::gen
