#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "src/attribution/module_graft.h"
#include "src/base/hash.h"
#include "src/replay/path_places.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Replayed calls of modules that are known by their names from the root down: one call a graph
/// launch and module. Where the launch lies in a scope of one of these modules the rest hangs below
/// it. Else what is known by its path stands where the path says (path_places.h), and other chains
/// hang below the launch's scope, or at the roots of its process.
class ChainPlacer {
 public:
  using Chain = std::span<const attribution::ModuleGraft::Name>;  ///< root first

  explicit ChainPlacer(attribution::ModuleGraft& graft) : graft_(graft), places_(graft) {}

  /// `around` is the innermost scope of the trace itself at the launch; may be invalid.
  void BeginLaunch(trace::CallId launch, trace::ScopeId around);
  /// As BeginLaunch, but `around` is known to hold the modules, whatever their paths say.
  void BeginInside(trace::CallId launch, trace::ScopeId around);
  /// The call of the last module of the chain.
  trace::ScopeId CallFor(Chain chain);

 private:
  /// A call, and how many modules of the chain it and what is around it stand for.
  struct Start {
    trace::ScopeId call;
    size_t from = 0;
  };
  Start AroundTheLaunch(Chain chain) const;
  Start OfPath(Chain chain);
  trace::ScopeId CallOf(attribution::ModuleId module);
  trace::ScopeId CallOnce(attribution::ModuleId module, trace::ScopeId around);

  attribution::ModuleGraft& graft_;
  PathPlaces places_;
  trace::ProcessId process_;
  trace::ScopeId around_;
  bool inside_ = false;
  tsl::robin_map<uint64_t, trace::ScopeId, base::MixHash> calls_;  ///< by call around and module
};

}  // namespace layerscope::replay
