#include "src/document/map/folds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/analysis/module_path.h"
#include "src/analysis/module_range.h"
#include "src/analysis/module_shape.h"
#include "src/attribution/path_parts.h"

namespace layerscope::document {
namespace {

using attribution::ModuleId;
constexpr uint32_t kNone = ExecutionNode::kNone;

/// Finds the stretches among the modules of one parent.
class SiblingFolder {
 public:
  SiblingFolder(const ExecutionTree& tree, const ModuleNames& names, const ModuleFolds& folds,
                const std::vector<uint32_t>& shapes)
      : tree_(tree), names_(names), folds_(folds), shapes_(shapes) {}

  std::vector<Fold> Run(const std::vector<uint32_t>& siblings, std::vector<Stretch>& stretches) {
    siblings_ = &siblings;
    stretch_of_.assign(siblings.size(), kNone);
    groups_.clear();
    MarkLists();
    MarkRepeatedClasses();
    MarkLeaves();
    return MakeFolds(stretches);
  }

 private:
  uint32_t node(size_t i) const { return (*siblings_)[i]; }
  ModuleId module(size_t i) const { return tree_.nodes[node(i)].module; }
  bool HasChildren(size_t i) const { return !folds_.folds_of[node(i)].empty(); }

  void Mark(const std::vector<size_t>& members) {
    for (const size_t i : members) stretch_of_[i] = static_cast<uint32_t>(groups_.size());
    groups_.push_back(members);
  }

  void MarkLists() {
    std::map<std::string_view, std::vector<size_t>> lists;
    for (size_t i = 0; i < siblings_->size(); ++i) {
      const std::string_view list = names_.ListOf(module(i));
      if (!list.empty()) lists[list].push_back(i);
    }
    for (const auto& [list, members] : lists) {
      const bool has_children =
          std::any_of(members.begin(), members.end(), [this](size_t i) { return HasChildren(i); });
      if (members.size() >= (has_children ? 2 : analysis::kLeafRun)) Mark(members);
    }
  }

  void MarkRepeatedClasses() {
    for (size_t i = 0; i < siblings_->size();) {
      size_t end = i;
      std::map<std::string_view, size_t> count;
      while (end < siblings_->size() && stretch_of_[end] == kNone && HasChildren(end)) {
        ++count[names_.ClassOf(module(end++))];
      }
      std::vector<size_t> run;
      for (size_t k = i; k <= end; ++k) {
        if (k < end && count[names_.ClassOf(module(k))] >= 2) {
          run.push_back(k);
          continue;
        }
        if (run.size() >= 2) Mark(run);
        run.clear();
      }
      i = end + 1;
    }
  }

  void MarkLeaves() {
    for (size_t i = 0; i < siblings_->size();) {
      std::vector<size_t> run{i};
      while (stretch_of_[i] == kNone && run.back() + 1 < siblings_->size() &&
             stretch_of_[run.back() + 1] == kNone &&
             shapes_[node(run.back() + 1)] == shapes_[node(i)]) {
        run.push_back(run.back() + 1);
      }
      if (run.size() >= analysis::kLeafRun && !HasChildren(i)) Mark(run);
      i = run.back() + 1;
    }
  }

  std::vector<Fold> MakeFolds(std::vector<Stretch>& stretches) {
    const auto first = static_cast<uint32_t>(stretches.size());
    stretches.resize(stretches.size() + groups_.size());
    std::map<std::pair<uint32_t, uint32_t>, size_t> fold_of;  // by stretch and shape
    std::vector<Fold> folds;
    for (size_t i = 0; i < siblings_->size(); ++i) {
      if (stretch_of_[i] == kNone) {
        folds.push_back({{node(i)}, kNone});
        continue;
      }
      const uint32_t id = first + stretch_of_[i];
      Stretch& stretch = stretches[id];
      const auto [at, is_new] = fold_of.try_emplace({id, shapes_[node(i)]}, folds.size());
      if (is_new) {
        folds.push_back({{}, id});
        type_of_fold_[at->second] = stretch.n_types++;
      }
      folds[at->second].members.push_back(node(i));
      stretch.members.push_back(node(i));
      stretch.types.push_back(type_of_fold_[at->second]);
      stretch.parent = tree_.nodes[node(i)].parent;
      stretch.has_children |= HasChildren(i);
    }
    type_of_fold_.clear();
    return folds;
  }

  const ExecutionTree& tree_;
  const ModuleNames& names_;
  const ModuleFolds& folds_;
  const std::vector<uint32_t>& shapes_;
  const std::vector<uint32_t>* siblings_ = nullptr;
  std::vector<uint32_t> stretch_of_;  // by sibling
  std::vector<std::vector<size_t>> groups_;
  std::map<size_t, uint32_t> type_of_fold_;
};

}  // namespace

ModuleNames::ModuleNames(const ExecutionRank& rank)
    : rank_(rank), paths_(analysis::ModulePaths(*rank.view)) {}

std::string_view ModuleNames::ClassOf(ModuleId module) const {
  return rank_.attribution().modules.ClassOf(module, rank_.trace());
}

bool ModuleNames::HasPath(ModuleId module) const {
  return rank_.attribution().modules.modules[module.index()].path.valid();
}

std::string_view ModuleNames::NameOf(ModuleId module) const {
  const attribution::Module& of = rank_.attribution().modules.modules[module.index()];
  if (!of.path.valid()) return rank_.trace().strings[of.name];
  const std::string_view path = rank_.trace().strings[of.path];
  if (of.parent.valid()) {
    const attribution::Module& above = rank_.attribution().modules.modules[of.parent.index()];
    const std::string_view parent =
        above.path.valid() ? rank_.trace().strings[above.path] : std::string_view();
    if (!parent.empty() && path.size() > parent.size() + 1 && path.starts_with(parent) &&
        path[parent.size()] == '.') {
      return path.substr(parent.size() + 1);
    }
  }
  return path;
}

int64_t ModuleNames::NumberOf(ModuleId module) const {
  if (HasPath(module)) return attribution::SplitNumber(NameOf(module)).number;
  return attribution::SplitInstance(NameOf(module)).number;
}

std::string_view ModuleNames::ListOf(ModuleId module) const {
  if (!HasPath(module)) return {};
  const attribution::NumberedPath path = attribution::SplitNumber(NameOf(module));
  return path.number < 0 ? std::string_view() : path.list;
}

std::string ModuleNames::NameOfAll(const std::vector<ModuleId>& modules) const {
  const std::string_view first = NameOf(modules.front());
  std::vector<int64_t> numbers;
  bool one_name = true;
  for (const ModuleId module : modules) {
    one_name = one_name && NameOf(module) == first;
    numbers.push_back(NumberOf(module));
  }
  if (one_name) return std::string(first);
  const std::string_view list = ListOf(modules.front());
  if (!list.empty()) return std::string(list) + ".*";
  return analysis::RangeName(ClassOf(modules.front()), std::move(numbers));
}

ModuleFolds FoldModules(const ExecutionTree& tree, const ModuleNames& names) {
  ModuleFolds folds;
  folds.folds_of.resize(tree.nodes.size());
  std::vector<std::vector<uint32_t>> children(tree.nodes.size());
  std::vector<uint32_t> roots;
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const ExecutionNode& node = tree.nodes[i];
    const bool ran = node.calls + node.captured_calls > 0 || node.sums.activities > 0;
    if (node.kind != ExecutionNode::Kind::kModule || !ran) continue;
    (node.parent == kNone ? roots : children[node.parent]).push_back(i);
  }
  std::vector<uint32_t> shapes(tree.nodes.size(), 0);
  std::map<std::pair<std::string_view, std::vector<uint32_t>>, uint32_t> known;
  SiblingFolder folder(tree, names, folds, shapes);
  for (size_t i = tree.nodes.size(); i-- > 0;) {
    if (tree.nodes[i].kind != ExecutionNode::Kind::kModule) continue;
    folds.folds_of[i] = folder.Run(children[i], folds.stretches);
    std::vector<uint32_t> below;
    for (const Fold& fold : folds.folds_of[i]) {
      below.push_back(shapes[fold.members.front()] * 2 + (fold.members.size() > 1 ? 1 : 0));
    }
    const auto next = static_cast<uint32_t>(known.size());
    shapes[i] = known.try_emplace({names.ClassOf(tree.nodes[i].module), std::move(below)}, next)
                    .first->second;
  }
  folds.roots = folder.Run(roots, folds.stretches);
  return folds;
}

}  // namespace layerscope::document
