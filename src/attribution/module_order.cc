#include "src/attribution/module_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace layerscope::attribution {
namespace {

/// The children of each module next to each other, those of no module (the roots) at the end.
struct Children {
  std::vector<uint32_t> list;
  std::vector<uint32_t> begin;  // by parent, one more than there are
};

Children ChildrenOf(const std::vector<Module>& modules, const std::vector<uint32_t>& order) {
  const auto n = static_cast<uint32_t>(modules.size());
  const auto parent = [&](uint32_t id) {
    const ModuleId up = modules[id].parent;
    return up.valid() ? static_cast<uint32_t>(up.index()) : n;
  };
  Children children{std::vector<uint32_t>(n), std::vector<uint32_t>(n + 2, 0)};
  for (const uint32_t id : order) ++children.begin[parent(id) + 1];
  std::partial_sum(children.begin.begin(), children.begin.end(), children.begin.begin());
  std::vector<uint32_t> next(children.begin);
  for (const uint32_t id : order) children.list[next[parent(id)]++] = id;
  std::stable_sort(children.list.begin() + children.begin[n], children.list.end(),
                   [&](uint32_t a, uint32_t b) { return modules[a].process < modules[b].process; });
  return children;
}

/// Old numbers in pre-order. A stack of its own: a hostile tree may be a million deep.
std::vector<uint32_t> PreOrder(const Children& children) {
  const size_t n = children.list.size();
  const auto push = [&](std::vector<uint32_t>& stack, size_t parent) {
    const auto at = [&](size_t i) {
      return children.list.rbegin() + static_cast<ptrdiff_t>(n - i);
    };
    stack.insert(stack.end(), at(children.begin[parent + 1]), at(children.begin[parent]));
  };
  std::vector<uint32_t> pending;
  push(pending, n);
  std::vector<uint32_t> order;
  order.reserve(n);
  while (!pending.empty()) {
    const uint32_t id = pending.back();
    pending.pop_back();
    order.push_back(id);
    push(pending, id);
  }
  return order;
}

}  // namespace

std::vector<ModuleId> PutInPreOrder(ModuleTree& tree, const std::vector<uint32_t>& order) {
  const std::vector<uint32_t> pre_order = PreOrder(ChildrenOf(tree.modules, order));
  std::vector<ModuleId> new_id(pre_order.size());
  std::vector<Module> modules;
  modules.reserve(pre_order.size());
  for (const uint32_t old : pre_order) {
    new_id[old] = ModuleId(modules.size());
    modules.push_back(tree.modules[old]);
    ModuleId& parent = modules.back().parent;
    if (parent.valid()) parent = new_id[parent.index()];
  }
  tree.modules = std::move(modules);
  for (ModuleId& id : tree.module_of_scope) id = new_id[id.index()];
  return new_id;
}

}  // namespace layerscope::attribution
