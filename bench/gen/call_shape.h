#pragma once
// The host's calls that make the GPU work: names, and CUPTI's callback ids.

#include <string_view>

#include "bench/gen/catalog.h"

namespace layerscope::gen {

struct CallShape {
  std::string_view name;
  int cbid;
  bool driver;
};

CallShape ShapeOf(CallKind kind, bool amd);

}  // namespace layerscope::gen
