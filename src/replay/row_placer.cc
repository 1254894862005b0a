#include "src/replay/row_placer.h"

#include <algorithm>

namespace layerscope::replay {
namespace {

using attribution::Module;
using attribution::ModuleId;

/// Every launch replays the modules around a node again: what is further out is left out.
constexpr size_t kMaxLevels = attribution::kMaxModuleLevels;

}  // namespace

RowPlacer::RowPlacer(attribution::ModuleGraft& graft, const SideTrace& source)
    : graft_(graft),
      source_(source),
      places_(graft),
      text_of_(source.trace->strings.size()),
      module_of_(source.attribution->modules.modules.size()),
      call_of_(source.attribution->modules.module_of_scope.size()),
      called_in_(call_of_.size(), 0),
      op_of_(source.trace->ops.size() + source.attribution->replayed_ops.size()) {}

void RowPlacer::BeginLaunch(trace::CallId launch, trace::ScopeId around) {
  const trace::Trace& trace = graft_.trace();
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  const trace::ProcessId process =
      trace.threads[trace.calls.thread[launch.index()].index()].process;
  const ModuleId base = around.valid() ? tree.module_of_scope[around.index()] : ModuleId();
  if (!has_base_ || base != base_ || process != process_) {
    std::fill(module_of_.begin(), module_of_.end(), ModuleId());
  }
  has_base_ = true;
  base_ = base;
  process_ = process;
  around_scope_ = around;
  ++launch_number_;
  places_.BeginLaunch(process, around);
  FindAroundOf(around);
}

void RowPlacer::FindAroundOf(trace::ScopeId scope) {
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  around_.clear();
  for (ModuleId module = base_; module.valid() && around_.size() < kMaxLevels;
       module = tree.modules[module.index()].parent) {
    while (scope.valid() && tree.modules[tree.module_of_scope[scope.index()].index()].depth >
                                tree.modules[module.index()].depth) {
      scope = tree.parent_of_scope[scope.index()];
    }
    const bool has_scope = scope.valid() && tree.module_of_scope[scope.index()] == module;
    around_.push_back({module, has_scope ? scope : trace::ScopeId()});
  }
}

trace::StringId RowPlacer::Translate(trace::StringId text) {
  if (!text.valid()) return {};
  trace::StringId& known = text_of_[text.index()];
  if (!known.valid()) known = graft_.Intern(source_.trace->strings[text]);
  return known;
}

attribution::ModuleGraft::Name RowPlacer::NameOf(const Module& recorded) {
  return {Translate(recorded.name), Translate(recorded.path), Translate(recorded.class_name)};
}

ModuleId RowPlacer::FindAround(const attribution::ModuleGraft::Name& name) const {
  const std::vector<Module>& modules = graft_.attribution().modules.modules;
  for (const Around& around : around_) {
    const Module& module = modules[around.module.index()];
    const bool other_path = module.path.valid() && name.path.valid() && module.path != name.path;
    if (module.name == name.name && !other_path) return around.module;
  }
  return {};
}

ModuleId RowPlacer::ModuleFor(ModuleId recorded) {
  const std::vector<Module>& modules = source_.attribution->modules.modules;
  const std::vector<ModuleId>& module_of_scope = graft_.attribution().modules.module_of_scope;
  std::vector<ModuleId> unknown;  // innermost first
  ModuleId below;
  for (ModuleId at = recorded; at.valid() && unknown.size() < kMaxLevels;
       at = modules[at.index()].parent) {
    ModuleId& known = module_of_[at.index()];
    if (!known.valid()) known = FindAround(NameOf(modules[at.index()]));
    if (!known.valid()) known = places_.Find(Translate(modules[at.index()].path));
    if (below = known; below.valid()) break;
    unknown.push_back(at);
  }
  if (!below.valid()) {
    const bool has_path = modules[unknown.back().index()].path.valid();
    const trace::ScopeId base = has_path ? places_.base() : around_scope_;
    below = base.valid() ? module_of_scope[base.index()] : ModuleId();
  }
  for (size_t i = unknown.size(); i-- > 0;) {
    const Module& module = modules[unknown[i].index()];
    below = graft_.FindOrAdd(below, process_, NameOf(module));
    module_of_[unknown[i].index()] = below;
  }
  return below;
}

trace::ScopeId RowPlacer::CallFor(trace::ScopeId recorded) {
  const attribution::ModuleTree& tree = source_.attribution->modules;
  std::vector<trace::ScopeId> unknown;  // innermost first
  trace::ScopeId around;
  for (trace::ScopeId at = recorded; at.valid() && unknown.size() < kMaxLevels;
       at = tree.parent_of_scope[at.index()]) {
    if (called_in_[at.index()] == launch_number_) {
      around = call_of_[at.index()];
      break;
    }
    unknown.push_back(at);
  }
  if (!around.valid()) {
    around = ScopeAbove(ModuleFor(tree.module_of_scope[unknown.back().index()]));
  }
  for (size_t i = unknown.size(); i-- > 0;) {
    const size_t scope = unknown[i].index();
    around = MakeCall(tree.module_of_scope[scope], around);
    call_of_[scope] = around;
    called_in_[scope] = launch_number_;
  }
  return around;
}

/// What a call of the outermost recorded module lies in: the scope of the module above it, where
/// the launch lies in that.
trace::ScopeId RowPlacer::ScopeAbove(ModuleId module) const {
  const ModuleId parent = graft_.attribution().modules.modules[module.index()].parent;
  for (const Around& around : around_) {
    if (around.module == module) return around_scope_;
    if (around.module == parent) return around.scope.valid() ? around.scope : around_scope_;
  }
  return {};
}

trace::ScopeId RowPlacer::MakeCall(ModuleId recorded, trace::ScopeId around) {
  const ModuleId module = ModuleFor(recorded);
  for (const Around& known : around_) {
    if (known.module == module && known.scope.valid()) return known.scope;
  }
  return graft_.AddCall(module, around);
}

trace::OpId RowPlacer::OpFor(trace::OpId recorded) {
  if (!recorded.valid()) return {};
  trace::OpId& known = op_of_[recorded.index()];
  if (known.valid()) return known;
  const trace::StringId name = source_.attribution->OpName(*source_.trace, recorded);
  const trace::ArgsId args = source_.attribution->OpArgs(*source_.trace, recorded);
  return known = graft_.AddOp(Translate(name), ArgsFor(args));
}

trace::ArgsId RowPlacer::ArgsFor(trace::ArgsId recorded) {
  if (!recorded.valid()) return {};
  trace::Args args = source_.trace->args[recorded.index()];
  for (trace::StringId* text : {&args.input_dims, &args.input_types, &args.grid, &args.block,
                                &args.collective, &args.dtype}) {
    *text = Translate(*text);
  }
  return graft_.InternArgs(args);
}

void RowPlacer::Place(uint32_t row, const RecordedNode& node, attribution::Evidence evidence) {
  const trace::OpId op = OpFor(node.op);
  if (node.scope.valid()) {
    graft_.Place(row, CallFor(node.scope), op, evidence);
  } else if (op.valid()) {
    graft_.PlaceOp(row, op);
  }
}

}  // namespace layerscope::replay
