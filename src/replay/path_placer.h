#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/attribution/module_graft.h"
#include "src/base/hash.h"
#include "src/replay/chain_placer.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// The part of `path` that is the module above it: "model.layers" is no module of its own, so that
/// "model.layers.7" hangs below "model". Empty: `path` is a root.
std::string_view PathAbove(std::string_view path);

/// Replayed calls of modules that are known by their full path (graph annotations, templates). The
/// chain of a path is its prefixes, a number joined to the part before it.
class PathPlacer {
 public:
  explicit PathPlacer(attribution::ModuleGraft& graft) : graft_(graft), chains_(graft) {}

  /// `around` is the innermost scope of the trace itself at the launch; may be invalid.
  void BeginLaunch(trace::CallId launch, trace::ScopeId around);
  /// As BeginLaunch, but `around` is known to hold the modules, whatever their paths say.
  void BeginInside(trace::CallId launch, trace::ScopeId around);
  /// The call of the module of this path in the launch. Invalid: the path is empty or has an empty
  /// part, or is deeper than any model.
  trace::ScopeId CallFor(std::string_view path);

 private:
  using Name = attribution::ModuleGraft::Name;
  struct Module {
    std::vector<Name> chain;  ///< root first; empty: no path of a module
    uint32_t launch = 0;
    trace::ScopeId call;  ///< in `launch`
  };
  std::vector<Name> ChainOf(std::string_view path);

  attribution::ModuleGraft& graft_;
  ChainPlacer chains_;
  uint32_t launch_ = 0;
  tsl::robin_map<uint64_t, Module, base::MixHash> module_of_;  ///< by StringId index of the path
};

}  // namespace layerscope::replay
