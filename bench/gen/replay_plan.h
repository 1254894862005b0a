#pragma once
// One forward of a small decoder as a list of what happens on the host, in order. Played as an
// eager run, into a capture, or (its kernels alone) as the replay of a graph.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gen/replay_options.h"

namespace layerscope::gen {

struct PlanItem {
  enum class Kind : uint8_t {
    kOpenModule,
    kCloseModule,
    kOpenOp,
    kCloseOp,
    kKernel,
    kCopy,
    kBreak,  // a piece ends: what follows up to the next break runs eagerly
  };
  Kind kind;
  std::string text;       // class of the module, name of the op or kernel
  std::string path;       // of the module
  int64_t work_ns = 0;    // kernels and copies
  bool side = false;      // on the side stream
  bool compiled = false;  // the module is not called once the model is compiled
};

using Plan = std::vector<PlanItem>;

Plan PlanForward(const ReplayOptions& options, int64_t batch);
Plan PlanDraft(const ReplayOptions& options, int64_t batch);

}  // namespace layerscope::gen
