#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/attribution/evidence.h"
#include "src/attribution/module_graft.h"
#include "src/replay/path_places.h"
#include "src/replay/recording.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Places replayed rows at the nodes of one source: its module scopes become replayed calls, once a
/// graph launch, and its ops become replayed ops, once. Where the launch lies inside a module
/// scope, a recorded module of the name of that scope (or of one around it) is that scope, and what
/// the recording has below hangs below it. Else what is known by its path stands where the path
/// says (path_places.h), and a chain of other names hangs below the launch's scope as a whole.
/// Outside every scope chains begin at the roots of the launching process.
class RowPlacer {
 public:
  RowPlacer(attribution::ModuleGraft& graft, const SideTrace& source);

  /// Rows placed from here on belong to this graph launch. `around` is the innermost scope of the
  /// trace itself at the launch (attribution.scope of its rows before anything is placed).
  void BeginLaunch(trace::CallId launch, trace::ScopeId around);
  /// Without a recorded module the row gets the op alone; without either nothing.
  void Place(uint32_t row, const RecordedNode& node, attribution::Evidence evidence);

 private:
  /// A module around the launch, and its call there.
  struct Around {
    attribution::ModuleId module;
    trace::ScopeId scope;  ///< invalid: the module is a part of a path without a scope of its own
  };

  void FindAroundOf(trace::ScopeId scope);
  attribution::ModuleId FindAround(const attribution::ModuleGraft::Name& name) const;
  trace::StringId Translate(trace::StringId text);
  attribution::ModuleGraft::Name NameOf(const attribution::Module& recorded);
  attribution::ModuleId ModuleFor(attribution::ModuleId recorded);
  trace::ScopeId ScopeAbove(attribution::ModuleId module) const;
  trace::ScopeId CallFor(trace::ScopeId recorded);
  trace::ScopeId MakeCall(attribution::ModuleId recorded, trace::ScopeId around);
  trace::OpId OpFor(trace::OpId recorded);
  trace::ArgsId ArgsFor(trace::ArgsId recorded);

  attribution::ModuleGraft& graft_;
  const SideTrace& source_;
  PathPlaces places_;
  // Of the launch.
  trace::ProcessId process_;
  trace::ScopeId around_scope_;
  std::vector<Around> around_;  // innermost first
  uint32_t launch_number_ = 0;
  bool has_base_ = false;
  attribution::ModuleId base_;  // the module around the launch
  // What has been translated, by id of the source.
  std::vector<trace::StringId> text_of_;
  std::vector<attribution::ModuleId> module_of_;  // below `base_` in `process_`
  std::vector<trace::ScopeId> call_of_;           // of the launch numbered `called_in_`
  std::vector<uint32_t> called_in_;
  std::vector<trace::OpId> op_of_;
};

}  // namespace layerscope::replay
