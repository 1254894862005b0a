#include "src/document/requests/tree.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <variant>

#include "src/analysis/module_nodes.h"
#include "src/base/checked_sum.h"
#include "src/base/hash.h"
#include "src/base/string_map.h"

namespace layerscope::document {
namespace {

using analysis::ModuleNode;
using analysis::ModuleNodes;

constexpr uint32_t kNone = AlignedModule::kNone;

/// Merges the trees of the requests, one after the other. The order of siblings is a list, so that
/// a module of a later request goes behind its own predecessor at no cost.
class TreeMerger {
 public:
  void Add(uint32_t request, const ModuleNodes& tree) {
    std::vector<uint32_t> merged(tree.nodes.size());
    std::fill(cursor_.begin(), cursor_.end(), kNone);
    std::map<std::string, uint32_t> processes;
    int64_t n_modules = 0;
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const ModuleNode& node = tree.nodes[i];
      const uint32_t parent = node.parent < 0 ? RootOf(ProcessOrdinal(node, processes))
                                              : merged[static_cast<size_t>(node.parent)];
      merged[i] = Find(parent, node);
      n_modules += AddFigures(merged[i], request, node) ? 1 : 0;
    }
    ModuleFigures rest;
    rest.gpu_ns = rest.gpu_self_ns = tree.unattributed.gpu_ns;
    rest.kernels = tree.unattributed.kernels;
    rest.evidence_ns[static_cast<size_t>(attribution::Evidence::kUnresolved)] = rest.gpu_ns;
    unattributed_.push_back(rest);
    modules_of_.push_back(n_modules);
  }

  AlignedTree Take() {
    AlignedTree tree;
    tree.n_processes = roots_.size();
    tree.unattributed = std::move(unattributed_);
    tree.modules_of = std::move(modules_of_);
    std::vector<uint32_t> place_of(nodes_.size(), kNone);
    std::vector<uint32_t> stack;
    for (size_t i = roots_.size(); i-- > 0;) stack.push_back(roots_[i]);
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      stack.pop_back();
      if (next_[at] != kNone) stack.push_back(next_[at]);
      if (first_child_[at] != kNone) stack.push_back(first_child_[at]);
      if (is_root_[at] != 0) continue;
      place_of[at] = static_cast<uint32_t>(tree.modules.size());
      AlignedModule module = std::move(nodes_[at]);
      module.parent = is_root_[module.parent] != 0 ? kNone : place_of[module.parent];
      tree.modules.push_back(std::move(module));
    }
    return tree;
  }

 private:
  struct Key {
    uint32_t parent = kNone;
    uint32_t path = kNone;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const noexcept {
      return base::Mix((uint64_t{key.parent} << 32U) | key.path);
    }
  };

  /// The how-manieth process with modules a root belongs to.
  static uint32_t ProcessOrdinal(const ModuleNode& node,
                                 std::map<std::string, uint32_t>& processes) {
    const auto next = static_cast<uint32_t>(processes.size());
    return processes.emplace(std::visit(PidText{}, node.place.pid), next).first->second;
  }
  struct PidText {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(int64_t number) const { return std::to_string(number); }
    std::string operator()(std::string_view text) const { return std::string(text); }
  };

  /// The invisible node above the roots of a process.
  uint32_t RootOf(uint32_t process) {
    while (roots_.size() <= process) AddRoot();
    return roots_[process];
  }

  void AddRoot() {
    const uint32_t at = NewNode(kNone, true);
    nodes_[at].process = static_cast<uint32_t>(roots_.size());
    roots_.push_back(at);
  }

  uint32_t NewNode(uint32_t parent, bool is_root) {
    nodes_.emplace_back().parent = parent;
    first_child_.push_back(kNone);
    next_.push_back(kNone);
    cursor_.push_back(kNone);
    is_root_.push_back(is_root ? 1 : 0);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  uint32_t Find(uint32_t parent, const ModuleNode& node) {
    const Key key{parent, PathId(node.path)};
    const auto found = index_.find(key);
    if (found != index_.end()) return cursor_[parent] = found->second;
    const uint32_t at = NewNode(parent, false);
    index_.emplace(key, at);
    nodes_[at].process = nodes_[parent].process;
    nodes_[at].path = node.path;
    nodes_[at].class_name = node.class_name;
    nodes_[at].instance = node.instance;
    nodes_[at].has_path = node.has_path;
    uint32_t& link = cursor_[parent] == kNone ? first_child_[parent] : next_[cursor_[parent]];
    next_[at] = link;
    link = at;
    return cursor_[parent] = at;
  }

  uint32_t PathId(const std::string& path) {
    const auto found = path_ids_.find(path);
    if (found != path_ids_.end()) return found->second;
    const auto id = static_cast<uint32_t>(path_ids_.size());
    path_ids_.emplace(paths_.Store(path), id);
    return id;
  }

  /// True when the request had not been in this module yet: paths of absurd length are cut, and
  /// two that are cut alike are one.
  bool AddFigures(uint32_t at, uint32_t request, const ModuleNode& node) {
    auto& of_request = nodes_[at].of_request;
    const bool is_new = of_request.empty() || of_request.back().first != request;
    if (is_new) of_request.emplace_back(request, ModuleFigures{});
    ModuleFigures& figures = of_request.back().second;
    figures.calls += node.calls;
    figures.cpu_ns = base::AddClamped(figures.cpu_ns, node.cpu_ns);
    figures.gpu_ns += node.gpu_incl_ns;
    figures.gpu_self_ns += node.gpu_excl_ns;
    figures.kernels += node.kernels_incl;
    for (size_t i = 0; i < node.evidence_ns.size(); ++i) {
      figures.evidence_ns[i] += node.evidence_ns[i];
    }
    return is_new;
  }

  std::vector<AlignedModule> nodes_;
  std::vector<uint32_t> first_child_, next_;
  std::vector<uint32_t> cursor_;  ///< by parent: the child that the current request came to last
  std::vector<uint8_t> is_root_;
  std::vector<uint32_t> roots_;  ///< by process
  tsl::robin_map<Key, uint32_t, KeyHash> index_;
  base::StringArena paths_;
  base::StringMap<uint32_t> path_ids_;
  std::vector<ModuleFigures> unattributed_;
  std::vector<int64_t> modules_of_;
};

}  // namespace

const ModuleFigures* AlignedModule::Of(uint32_t request) const {
  const auto at = std::lower_bound(
      of_request.begin(), of_request.end(), request,
      [](const std::pair<uint32_t, ModuleFigures>& a, uint32_t b) { return a.first < b; });
  return at == of_request.end() || at->first != request ? nullptr : &at->second;
}

AlignedTree AlignModules(const std::vector<analysis::RankView>& views) {
  TreeMerger merger;
  for (size_t i = 0; i < views.size(); ++i) {
    merger.Add(static_cast<uint32_t>(i), analysis::BuildModuleNodes(views[i]));
  }
  return merger.Take();
}

}  // namespace layerscope::document
