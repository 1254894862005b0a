#include "src/attribution/module_tree.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "src/attribution/module_key.h"
#include "src/attribution/module_order.h"
#include "src/attribution/path_parts.h"
#include "src/base/checked_sum.h"
#include "src/base/hash.h"

namespace layerscope::attribution {
namespace {

/// Merges scopes into modules while they are visited parents first, then puts modules in pre-order.
class ModuleMerger {
 public:
  explicit ModuleMerger(const trace::Trace& trace) : trace_(trace), scopes_(trace.scopes) {
    tree_.module_of_scope.resize(scopes_.size());
    tree_.parent_of_scope.resize(scopes_.size());
    tree_.depth_of_scope.resize(scopes_.size(), 1);
  }

  void Add(uint32_t scope, uint32_t parent_scope) {
    ModuleId parent;
    if (parent_scope != kNoRow) {
      parent = tree_.module_of_scope[parent_scope];
      tree_.parent_of_scope[scope] = trace::ScopeId(parent_scope);
      tree_.depth_of_scope[scope] = tree_.depth_of_scope[parent_scope] + 1;
      int64_t& self_ns = tree_.modules[parent.index()].cpu_self_ns;
      self_ns = base::AddClamped(self_ns, -scopes_.dur_ns[scope]);
    }
    const ModuleId id = FindOrAdd(scope, parent);
    tree_.module_of_scope[scope] = id;
    Module& module = tree_.modules[id.index()];
    ++module.calls;
    module.cpu_ns = base::AddClamped(module.cpu_ns, scopes_.dur_ns[scope]);
    module.cpu_self_ns = base::AddClamped(module.cpu_self_ns, scopes_.dur_ns[scope]);
    uint32_t& first = first_scope_[id.index()];
    if (CalledBefore(scope, first)) first = scope;
  }

  ModuleTree Finish() && {
    PutInPreOrder(tree_, ByFirstCall());
    return std::move(tree_);
  }

 private:
  bool CalledBefore(uint32_t a, uint32_t b) const {
    return std::pair(scopes_.start_ns[a], a) < std::pair(scopes_.start_ns[b], b);
  }

  ModuleId FindOrAdd(uint32_t scope, ModuleId parent) {
    const trace::StringId name = scopes_.name[scope];
    const bool is_path = scopes_.is_path[scope] != 0;
    const trace::ProcessId process = trace_.threads[scopes_.thread[scope].index()].process;
    const uint64_t key = ModuleKey(parent, process, name, is_path);
    const auto [at, is_new] = module_of_key_.try_emplace(key, ModuleId(tree_.modules.size()));
    if (is_new) {
      const int depth = parent.valid() ? tree_.modules[parent.index()].depth + 1 : 1;
      tree_.modules.push_back({parent, depth, process, name, scopes_.PathOf(scope), {}, 0, 0, 0});
      first_scope_.push_back(scope);
    }
    return at->second;
  }

  /// All modules; of two siblings the one called first stands first.
  std::vector<uint32_t> ByFirstCall() const {
    std::vector<uint32_t> modules(tree_.modules.size());
    std::iota(modules.begin(), modules.end(), 0U);
    std::sort(modules.begin(), modules.end(), [&](uint32_t a, uint32_t b) {
      return CalledBefore(first_scope_[a], first_scope_[b]);
    });
    return modules;
  }

  const trace::Trace& trace_;
  const trace::Scopes& scopes_;
  ModuleTree tree_;
  tsl::robin_map<uint64_t, ModuleId, base::MixHash> module_of_key_;
  std::vector<uint32_t> first_scope_;  // by module: its first call
};

}  // namespace

std::string ModuleTree::Path(ModuleId id, const trace::Trace& trace) const {
  std::vector<std::string_view> up;
  for (; id.valid(); id = modules[id.index()].parent) {
    const Module& module = modules[id.index()];
    if (!module.path.valid()) {
      up.push_back(trace.strings[module.name]);
      continue;
    }
    // The model's own path is empty: what stands in it begins the path.
    if (const std::string_view path = trace.strings[module.path]; !path.empty()) up.push_back(path);
    break;
  }
  std::string path;
  const size_t hidden = up.size() > kMaxModuleLevels ? up.size() - kMaxModuleLevels : 0;
  for (size_t level = 0; level < up.size(); ++level) {
    if (level > 0) path += '.';
    if (hidden > 0 && level == kMaxModuleLevels / 2) {
      path += fmt::format("[{} levels].", hidden);
      level += hidden;
    }
    path += up[up.size() - 1 - level];
  }
  return path;
}

bool ModuleTree::IsNamedByClass(ModuleId id, const trace::Trace& trace) const {
  const Module& module = modules[id.index()];
  const std::string_view name = trace.strings[module.name];
  const bool is_part = module.path.valid() && trace.strings[module.path].ends_with(name);
  return !is_part && SplitInstance(name).number >= 0;
}

std::string_view ModuleTree::ClassOf(ModuleId id, const trace::Trace& trace) const {
  const Module& module = modules[id.index()];
  if (module.class_name.valid()) return trace.strings[module.class_name];
  const std::string_view name = trace.strings[module.name];
  // A name that is no part of the path is a `Class_k` whose path was found elsewhere.
  const bool is_part = module.path.valid() && trace.strings[module.path].ends_with(name);
  // "layers.3": a part of a path, of which nobody said the whole.
  const NumberedPath numbered = SplitNumber(name);
  const bool is_entry = numbered.number >= 0 && !numbered.list.empty();
  if (is_part || is_entry) return LastPart(WithoutNumbers(name));
  return SplitInstance(name).class_name;
}

InstanceName SplitInstance(std::string_view name) {
  const size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos || underscore == 0) return {name, -1};
  const int64_t number = PartNumber(name.substr(underscore + 1));
  if (number < 0) return {name, -1};
  return {name.substr(0, underscore), number};
}

ModuleTree BuildModuleTree(const trace::Trace& trace, InnermostIndex* innermost) {
  const Intervals intervals{trace.scopes.start_ns, trace.scopes.dur_ns};
  const LaneOrder order = LaneOrder::Build(std::span<const trace::ThreadId>(trace.scopes.thread),
                                           trace.threads.size(), intervals);
  ModuleMerger merger(trace);
  InnermostIndex index(order, intervals,
                       [&](uint32_t scope, uint32_t parent) { merger.Add(scope, parent); });
  if (innermost != nullptr) *innermost = std::move(index);
  return std::move(merger).Finish();
}

}  // namespace layerscope::attribution
