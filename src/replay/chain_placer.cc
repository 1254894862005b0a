#include "src/replay/chain_placer.h"

#include <cstddef>

namespace layerscope::replay {
namespace {

using attribution::kMaxModuleLevels;

/// Paths decide where both are known.
bool IsSame(const attribution::Module& module, const attribution::ModuleGraft::Name& name) {
  if (module.path.valid() != name.path.valid()) return false;
  return name.path.valid() ? module.path == name.path : module.name == name.name;
}

}  // namespace

void ChainPlacer::BeginLaunch(trace::CallId launch, trace::ScopeId around) {
  const trace::Trace& trace = graft_.trace();
  process_ = trace.threads[trace.calls.thread[launch.index()].index()].process;
  around_ = around;
  inside_ = false;
  places_.BeginLaunch(process_, around);
  calls_.clear();
}

void ChainPlacer::BeginInside(trace::CallId launch, trace::ScopeId around) {
  BeginLaunch(launch, around);
  inside_ = true;
}

ChainPlacer::Start ChainPlacer::AroundTheLaunch(Chain chain) const {
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  trace::ScopeId scope = around_;
  for (size_t level = 0; scope.valid() && level < kMaxModuleLevels; ++level) {
    const attribution::Module& module = tree.modules[tree.module_of_scope[scope.index()].index()];
    for (size_t i = chain.size(); i-- > 0;) {
      if (IsSame(module, chain[i])) return {scope, i + 1};
    }
    scope = tree.parent_of_scope[scope.index()];
  }
  return {around_, 0};
}

ChainPlacer::Start ChainPlacer::OfPath(Chain chain) {
  for (size_t i = chain.size(); i-- > 0;) {
    const attribution::ModuleId known = places_.Find(chain[i].path);
    if (known.valid()) return {CallOf(known), i + 1};
  }
  return {places_.base(), 0};
}

/// With calls of the modules that it stands in, from the launch's scope or the root on.
trace::ScopeId ChainPlacer::CallOf(attribution::ModuleId module) {
  const std::vector<attribution::Module>& modules = graft_.attribution().modules.modules;
  std::vector<attribution::ModuleId> up;  // innermost first
  trace::ScopeId around;
  for (; module.valid() && up.size() < kMaxModuleLevels; module = modules[module.index()].parent) {
    around = places_.ScopeAround(module);
    if (around.valid()) break;
    up.push_back(module);
  }
  for (size_t i = up.size(); i-- > 0;) around = CallOnce(up[i], around);
  return around;
}

trace::ScopeId ChainPlacer::CallOnce(attribution::ModuleId module, trace::ScopeId around) {
  const uint64_t key = static_cast<uint64_t>(around.index()) << 32 | module.index();
  const auto [known, is_new] = calls_.try_emplace(key);
  if (is_new) known.value() = graft_.AddCall(module, around);
  return known->second;
}

trace::ScopeId ChainPlacer::CallFor(Chain chain) {
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  Start start = AroundTheLaunch(chain);
  const bool has_path = !chain.empty() && chain.back().path.valid();
  if (start.from == 0 && has_path && !inside_) start = OfPath(chain);
  trace::ScopeId around = start.call;
  for (size_t i = start.from; i < chain.size(); ++i) {
    const attribution::ModuleId below =
        around.valid() ? tree.module_of_scope[around.index()] : attribution::ModuleId();
    around = CallOnce(graft_.FindOrAdd(below, process_, chain[i]), around);
  }
  return around;
}

}  // namespace layerscope::replay
