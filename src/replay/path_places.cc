#include "src/replay/path_places.h"

#include <algorithm>

namespace layerscope::replay {

using attribution::kMaxModuleLevels;
using attribution::Module;
using attribution::ModuleId;

PathPlaces::PathPlaces(const attribution::ModuleGraft& graft) : graft_(graft) {
  const std::vector<Module>& modules = graft.attribution().modules.modules;
  for (size_t i = 0; i < modules.size(); ++i) {
    const Module& module = modules[i];
    if (!module.path.valid()) continue;
    const auto [at, is_new] = of_path_.try_emplace(Key(module.process, module.path), ModuleId(i));
    if (!is_new && module.depth < modules[at->second.index()].depth) at.value() = ModuleId(i);
  }
}

void PathPlaces::BeginLaunch(trace::ProcessId process, trace::ScopeId around) {
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  process_ = process;
  around_.clear();
  base_ = around;
  bool is_base = false;
  for (trace::ScopeId at = around; at.valid() && around_.size() < kMaxModuleLevels;
       at = tree.parent_of_scope[at.index()]) {
    const Module& module = tree.modules[tree.module_of_scope[at.index()].index()];
    around_.push_back(at);
    is_base = is_base || !module.path.valid();
    if (!is_base) base_ = tree.parent_of_scope[at.index()];
  }
}

ModuleId PathPlaces::Find(trace::StringId path) const {
  if (!path.valid()) return {};
  const std::vector<ModuleId>& module_of = graft_.attribution().modules.module_of_scope;
  for (const trace::ScopeId around : around_) {
    const ModuleId below = graft_.FindPath(module_of[around.index()], path);
    if (below.valid()) return below;
  }
  const auto known = of_path_.find(Key(process_, path));
  return known == of_path_.end() ? ModuleId() : known->second;
}

trace::ScopeId PathPlaces::ScopeAround(ModuleId module) const {
  const std::vector<ModuleId>& module_of = graft_.attribution().modules.module_of_scope;
  const auto found = std::find_if(around_.begin(), around_.end(), [&](trace::ScopeId scope) {
    return module_of[scope.index()] == module;
  });
  return found == around_.end() ? trace::ScopeId() : *found;
}

}  // namespace layerscope::replay
