#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "src/attribution/module_graft.h"
#include "src/base/hash.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Where replayed modules stand that are known by their full path. The path is their place, not the
/// scope in which a graph happens to be launched: they are the modules of that path that the trace
/// itself has, and one path is one row of a table.
class PathPlaces {
 public:
  explicit PathPlaces(const attribution::ModuleGraft& graft);

  /// `around` is the innermost scope at the launch; may be invalid.
  void BeginLaunch(trace::ProcessId process, trace::ScopeId around);

  /// The trace's own module of this path: one right below a module around the launch before all
  /// others, of these the one nearest to a root, then the first. Invalid: there is none.
  attribution::ModuleId Find(trace::StringId path) const;
  /// What holds a chain that has no such module: the innermost scope around the launch that is not
  /// called by a path. Invalid: the roots of the process.
  trace::ScopeId base() const { return base_; }
  /// The scope of this module around the launch. Invalid: the launch does not lie in it.
  trace::ScopeId ScopeAround(attribution::ModuleId module) const;

 private:
  static uint64_t Key(trace::ProcessId process, trace::StringId path) {
    return static_cast<uint64_t>(process.index()) << 32 | path.index();
  }

  const attribution::ModuleGraft& graft_;
  tsl::robin_map<uint64_t, attribution::ModuleId, base::MixHash> of_path_;
  trace::ProcessId process_;
  std::vector<trace::ScopeId> around_;  ///< the launch, innermost first
  trace::ScopeId base_;
};

}  // namespace layerscope::replay
