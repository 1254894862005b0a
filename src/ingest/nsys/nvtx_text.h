#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::ingest::nsys {

/// What the text of an NVTX range says that the range is.
enum class NvtxKind : uint8_t {
  kModule,     ///< a module's call: `name` is its path
  kModuleEnd,  ///< `{'Module': 'path', 'Outputs': …}`: an empty pair behind a call, tells nothing
  kOp,         ///< an operator, as torch.autograd.profiler.emit_nvtx writes it
  kAnnotation,  ///< everything else
};

struct NvtxText {
  NvtxKind kind = NvtxKind::kAnnotation;
  std::string_view name;   ///< part of the text
  std::string_view sizes;  ///< kOp: `[[2, 8], [8]]`, or empty
};

/// Takes the text of a range apart: module markers (trace::ModulePathOf), and PyTorch's
/// `NAME[, seq = N][, op_id = N][, sizes = [[…]]][, input_op_ids = […]]` with at least one of the
/// fields.
NvtxText ReadNvtxText(std::string_view text);

}  // namespace layerscope::ingest::nsys
