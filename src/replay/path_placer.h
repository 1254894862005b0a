#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/attribution/module_graft.h"
#include "src/base/hash.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// The part of `path` that is the module above it: "model.layers" is no module of its own, so that
/// "model.layers.7" hangs below "model". Empty: `path` is a root.
std::string_view PathAbove(std::string_view path);

/// Replayed calls of modules that are known by their full path (graph annotations, templates): one
/// call a graph launch and module. The chain is the prefixes of the path, a number joined to the
/// part before it. Where the launch lies in a scope that has one of these paths, the rest hangs
/// below it, else the whole chain below the launch's scope, or at the roots of its process.
class PathPlacer {
 public:
  explicit PathPlacer(attribution::ModuleGraft& graft) : graft_(graft) {}

  /// `around` is the innermost scope of the trace itself at the launch; may be invalid.
  void BeginLaunch(trace::CallId launch, trace::ScopeId around);
  /// The call of the module of this path in the launch. Invalid: the path is empty or has an empty
  /// part, or is deeper than any model.
  trace::ScopeId CallFor(std::string_view path);

 private:
  struct Link {
    attribution::ModuleGraft::Name name;
    uint32_t above = 0;  ///< index of the link above; its own: a root
    uint32_t launch = 0;
    trace::ScopeId call;  ///< in `launch`
  };
  uint32_t LinkOf(std::string_view path);
  uint32_t AddLink(std::string_view path, uint32_t above);
  trace::ScopeId CallOf(uint32_t link);
  trace::ScopeId FindAround(trace::StringId path) const;

  attribution::ModuleGraft& graft_;
  trace::ProcessId process_;
  trace::ScopeId around_;
  uint32_t launch_ = 0;
  std::vector<Link> links_;
  tsl::robin_map<uint64_t, uint32_t, base::MixHash> link_of_;  ///< by StringId index
};

}  // namespace layerscope::replay
