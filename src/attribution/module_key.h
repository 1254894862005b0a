#pragma once

#include <cstdint>

#include "src/attribution/module_tree.h"

namespace layerscope::attribution {

/// What tells a module from the others of its tree: the module above it and its own name, or its
/// path. A parent implies its process; a root is told apart by a bit that no module's number has,
/// and a path from a name by one that no string's has.
inline uint64_t ModuleKey(ModuleId parent, trace::ProcessId process, trace::StringId text,
                          bool is_path) {
  constexpr uint64_t kMark = uint64_t{1} << 31;
  const uint64_t above = parent.valid() ? parent.index() : (kMark | process.index());
  return above << 32 | (is_path ? kMark : 0) | text.index();
}

}  // namespace layerscope::attribution
