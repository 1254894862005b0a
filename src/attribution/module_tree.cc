#include "src/attribution/module_tree.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

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
    Renumber(PreOrder());
    return std::move(tree_);
  }

 private:
  bool CalledBefore(uint32_t a, uint32_t b) const {
    return std::pair(scopes_.start_ns[a], a) < std::pair(scopes_.start_ns[b], b);
  }

  ModuleId FindOrAdd(uint32_t scope, ModuleId parent) {
    const trace::StringId name = scopes_.name[scope];
    const trace::ProcessId process = trace_.threads[scopes_.thread[scope].index()].process;
    // A parent implies its process; a root is told apart by a bit that no module index has.
    const uint64_t above = parent.valid() ? parent.index() : (uint64_t{1} << 31 | process.index());
    const uint64_t key = above << 32 | name.index();
    const auto [at, is_new] = module_of_key_.try_emplace(key, ModuleId(tree_.modules.size()));
    if (is_new) {
      const int depth = parent.valid() ? tree_.modules[parent.index()].depth + 1 : 1;
      tree_.modules.push_back({parent, depth, process, name, {}, {}, 0, 0, 0});
      first_scope_.push_back(scope);
    }
    return at->second;
  }

  /// Old module numbers in their new order.
  std::vector<uint32_t> PreOrder() const {
    const auto n = static_cast<uint32_t>(tree_.modules.size());
    // Children of one parent next to each other, the last called first; roots (parent n) at the
    // end.
    const auto parent = [&](uint32_t id) {
      const ModuleId up = tree_.modules[id].parent;
      return up.valid() ? static_cast<uint32_t>(up.index()) : n;
    };
    std::vector<uint32_t> children(n);
    std::iota(children.begin(), children.end(), 0U);
    std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
      if (parent(a) != parent(b)) return parent(a) < parent(b);
      const auto process_a = tree_.modules[a].process;
      const auto process_b = tree_.modules[b].process;
      if (process_a != process_b) return process_a > process_b;
      return CalledBefore(first_scope_[b], first_scope_[a]);
    });
    std::vector<uint32_t> begin(n + 2, 0);
    for (const uint32_t id : children) ++begin[parent(id) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<uint32_t> pending(children.begin() + begin[n], children.end());
    std::vector<uint32_t> order;
    order.reserve(n);
    while (!pending.empty()) {
      const uint32_t id = pending.back();
      pending.pop_back();
      order.push_back(id);
      pending.insert(pending.end(), children.begin() + begin[id], children.begin() + begin[id + 1]);
    }
    return order;
  }

  void Renumber(const std::vector<uint32_t>& order) {
    std::vector<ModuleId> new_id(order.size());
    std::vector<Module> modules;
    modules.reserve(order.size());
    for (const uint32_t old : order) {
      new_id[old] = ModuleId(modules.size());
      modules.push_back(tree_.modules[old]);
      ModuleId& parent = modules.back().parent;
      if (parent.valid()) parent = new_id[parent.index()];
    }
    tree_.modules = std::move(modules);
    for (ModuleId& id : tree_.module_of_scope) id = new_id[id.index()];
  }

  const trace::Trace& trace_;
  const trace::Scopes& scopes_;
  ModuleTree tree_;
  tsl::robin_map<uint64_t, ModuleId, base::MixHash> module_of_key_;
  std::vector<uint32_t> first_scope_;  // by module: its first call
};

constexpr size_t kMaxPathLevels = 64;

}  // namespace

std::string ModuleTree::Path(ModuleId id, const trace::Trace& trace) const {
  std::vector<std::string_view> up;
  for (; id.valid(); id = modules[id.index()].parent) {
    up.push_back(trace.strings[modules[id.index()].name]);
  }
  std::string path;
  const size_t hidden = up.size() > kMaxPathLevels ? up.size() - kMaxPathLevels : 0;
  for (size_t level = 0; level < up.size(); ++level) {
    if (level > 0) path += '.';
    if (hidden > 0 && level == kMaxPathLevels / 2) {
      path += fmt::format("[{} levels].", hidden);
      level += hidden;
    }
    path += up[up.size() - 1 - level];
  }
  return path;
}

InstanceName SplitInstance(std::string_view name) {
  const size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos || underscore == 0) return {name, -1};
  const std::string_view digits = name.substr(underscore + 1);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size() &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) return {name, -1};
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
