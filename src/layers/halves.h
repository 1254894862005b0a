#pragma once

#include <cstdint>
#include <vector>

#include "src/layers/outline.h"

namespace layerscope::layers {

/// What stands between a run of mixers and the next one.
enum class Separation : uint8_t {
  kFfn,      ///< FFN kernels, then the norm that opens the next layer
  kBare,     ///< one residual norm and no FFN: two mixers of two blocks
  kUnknown,  ///< norms as around an FFN whose kernels have no known name
  kEnd,      ///< nothing: the last run
};

/// A run of mixers with the norm that opens its block, and the FFN behind it.
struct Half {
  uint32_t mix_begin = 0;  ///< first mixer
  uint32_t mix_end = 0;    ///< behind the last mixer of the run
  uint32_t begin = 0;      ///< where its block opens
  bool opened = false;     ///< a norm stands at `begin`
  Separation after = Separation::kEnd;
  uint32_t last_ffn = 0;  ///< last FFN kernel; only when has_ffn
  bool has_ffn = false;
  bool experts = false;  ///< the FFN has routing or experts
  bool state_space = false;
  bool linear = false;    ///< its mixers are linear attention or Mamba
  uint32_t ffn_open = 0;  ///< norm that opens the FFN half; only when has_ffn_norm
  bool has_ffn_norm = false;
  uint32_t n_ffn_blocks = 0;  ///< groups of FFN kernels with a norm between them
  uint32_t n_opening = 1;     ///< norms that open the block together
  uint32_t n_together = 1;    ///< norms that stand together there, opening or not
  bool odd_opening = false;   ///< a GEMM stands between the FFN's norms and `begin`
  bool closes = false;        ///< norms close the blocks: `begin` stands behind the last of them
  bool swallows = false;      ///< FFN kernels or projections between the mixers of the run
};

/// Rules 3 to 5: runs of mixers, what separates them, and the norm at which each block opens.
std::vector<Half> FindHalves(const Outline& outline);

/// Index behind the last norm of the group that begins with norm `first`: norms with no GEMM, mixer
/// or FFN between them, all before `limit`.
size_t NormGroupEnd(const Outline& outline, size_t first, uint32_t limit);

}  // namespace layerscope::layers
