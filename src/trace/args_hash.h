#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/hash.h"
#include "src/trace/trace.h"

namespace layerscope::trace {

/// For maps from argument tuples to their ids.
struct ArgsHash {
  size_t operator()(const Args& args) const noexcept {
    uint64_t hash = 0;
    for (const StringId id :
         {args.input_dims, args.input_types, args.grid, args.block, args.collective, args.dtype}) {
      hash = base::Mix(hash + id.index() + 1);
    }
    hash = base::Mix(hash + static_cast<uint64_t>(args.message_elements));
    return base::Mix(hash + static_cast<uint64_t>(args.group_size));
  }
};

}  // namespace layerscope::trace
