#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "src/document/map/tree.h"

namespace layerscope::document {

/// What modules are called.
class ModuleNames {
 public:
  explicit ModuleNames(const ExecutionRank& rank);

  std::string_view ClassOf(attribution::ModuleId module) const;
  /// The path, as `modules` prints it.
  const std::string& PathOf(attribution::ModuleId module) const { return paths_[module.index()]; }
  /// The path from a model tree or a recorded path, not one made of `Class_k` names.
  bool HasPath(attribution::ModuleId module) const;
  /// "Qwen3DecoderLayer_7", or the path's part below the parent's: "layers.7".
  std::string_view NameOf(attribution::ModuleId module) const;
  /// "Qwen3DecoderLayer_7" and 7; "layers.7" and 7; -1 without a number.
  int64_t NumberOf(attribution::ModuleId module) const;
  /// "layers" of the part "layers.7"; empty where the module has no path or no number in it.
  std::string_view ListOf(attribution::ModuleId module) const;
  /// One name for several modules: "Qwen3DecoderLayer_0..35", "layers.*", or the name they share.
  std::string NameOfAll(const std::vector<attribution::ModuleId>& modules) const;

 private:
  const ExecutionRank& rank_;
  std::vector<std::string> paths_;
};

/// Siblings that are alike and are shown as one.
struct Fold {
  std::vector<uint32_t> members;  ///< nodes, in order
  uint32_t stretch = ExecutionNode::kNone;
};

/// Siblings that repeat: the entries of one list of the model (`layers.*`), or neighbours with
/// children whose classes each come at least twice. Its folds are their types.
struct Stretch {
  std::vector<uint32_t> members;  ///< nodes, in order
  std::vector<uint32_t> types;    ///< by member: 0, 1, … in order of first appearance
  uint32_t n_types = 0;
  uint32_t parent = ExecutionNode::kNone;
  bool has_children = false;
};

/// Which modules are alike: of one class, with children that, folded, are alike in order. So layers
/// with a different number of active experts are alike, attention and Mamba layers are not.
struct ModuleFolds {
  std::vector<std::vector<Fold>> folds_of;  ///< by node: its modules, folded
  std::vector<Fold> roots;
  std::vector<Stretch> stretches;
};

ModuleFolds FoldModules(const ExecutionTree& tree, const ModuleNames& names);

}  // namespace layerscope::document
