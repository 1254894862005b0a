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
  calls_.clear();
}

trace::ScopeId ChainPlacer::CallFor(Chain chain) {
  const attribution::ModuleTree& tree = graft_.attribution().modules;
  trace::ScopeId around = around_;
  size_t from = 0;
  trace::ScopeId scope = around_;
  for (size_t level = 0; scope.valid() && from == 0 && level < kMaxModuleLevels; ++level) {
    const attribution::Module& module = tree.modules[tree.module_of_scope[scope.index()].index()];
    for (size_t i = chain.size(); i-- > 0 && from == 0;) {
      if (!IsSame(module, chain[i])) continue;
      from = i + 1;
      around = scope;
    }
    scope = tree.parent_of_scope[scope.index()];
  }
  for (size_t i = from; i < chain.size(); ++i) {
    const uint64_t key = static_cast<uint64_t>(around.index()) << 32 | chain[i].name.index();
    const auto [known, is_new] = calls_.try_emplace(key);
    if (is_new) {
      const attribution::ModuleId below =
          around.valid() ? tree.module_of_scope[around.index()] : attribution::ModuleId();
      known.value() = graft_.AddCall(graft_.FindOrAdd(below, process_, chain[i]), around);
    }
    around = known->second;
  }
  return around;
}

}  // namespace layerscope::replay
