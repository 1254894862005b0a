#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "src/attribution/module_graft.h"
#include "src/base/hash.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Replayed calls of modules that are known by their names from the root down: one call a graph
/// launch and module. Where the launch lies in a scope of one of these modules the rest hangs below
/// it, else the whole chain below the launch's scope, or at the roots of its process.
class ChainPlacer {
 public:
  using Chain = std::span<const attribution::ModuleGraft::Name>;  ///< root first

  explicit ChainPlacer(attribution::ModuleGraft& graft) : graft_(graft) {}

  /// `around` is the innermost scope of the trace itself at the launch; may be invalid.
  void BeginLaunch(trace::CallId launch, trace::ScopeId around);
  /// The call of the last module of the chain.
  trace::ScopeId CallFor(Chain chain);

 private:
  attribution::ModuleGraft& graft_;
  trace::ProcessId process_;
  trace::ScopeId around_;
  tsl::robin_map<uint64_t, trace::ScopeId, base::MixHash> calls_;  ///< by call around and name
};

}  // namespace layerscope::replay
