#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/hash.h"
#include "src/trace/args_hash.h"

namespace layerscope::attribution {

/// Adds to a trace's attribution what a recording of its graphs knows: modules below those that the
/// trace has, their replayed calls, ops, and their place on activities. One graft at a time; after
/// Finish the module tree is in pre-order again. Strings are interned into the trace's own pool, so
/// that a replayed `aten::mm` and a launched one are one op to every group-by.
class ModuleGraft {
 public:
  ModuleGraft(trace::Trace& trace, Attribution& attribution);
  ModuleGraft(const ModuleGraft&) = delete;
  ModuleGraft& operator=(const ModuleGraft&) = delete;

  trace::StringId Intern(std::string_view text) { return trace_.strings.Intern(text); }
  trace::ArgsId InternArgs(const trace::Args& args);

  /// What a module is called. `path` and `class_name` may be invalid.
  struct Name {
    trace::StringId name;
    trace::StringId path;
    trace::StringId class_name;
  };
  /// The module called `name` below `parent` (invalid: among the roots of `process`), added if new.
  /// Where both paths are known they decide instead.
  ModuleId FindOrAdd(ModuleId parent, trace::ProcessId process, const Name& name);
  /// The module of this path right below `parent`, which is valid. Invalid: there is none.
  ModuleId FindPath(ModuleId parent, trace::StringId path) const;
  /// One replayed call of `module` inside the call `around` (invalid: of no other call).
  trace::ScopeId AddCall(ModuleId module, trace::ScopeId around);
  trace::OpId AddOp(trace::StringId name, trace::ArgsId args);
  /// Gives an activity its module call, op (invalid: it keeps its own) and evidence.
  void Place(uint32_t row, trace::ScopeId call, trace::OpId op, Evidence evidence);
  /// Gives an activity its op alone: the recording knows no module for it. Evidence stays.
  void PlaceOp(uint32_t row, trace::OpId op);

  /// Renumbers modules into pre-order: those of the trace keep their order, added ones follow their
  /// siblings in the order in which they were added. The graft is then at its end; ids of modules
  /// that it gave are no longer valid, those of calls and ops are.
  void Finish();

  const trace::Trace& trace() const { return trace_; }
  const Attribution& attribution() const { return out_; }

 private:
  void Remember(ModuleId id);

  trace::Trace& trace_;
  Attribution& out_;
  tsl::robin_map<uint64_t, ModuleId, base::MixHash> module_of_key_;
  // Filled when arguments are first asked for.
  tsl::robin_map<trace::Args, trace::ArgsId, trace::ArgsHash> id_of_args_;
  size_t n_args_indexed_ = 0;
};

}  // namespace layerscope::attribution
