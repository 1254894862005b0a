#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::model {

/// The modules of a live model, as `model_tree.json` has them (formats/outputs.md). Also read: a
/// list of [path, class, …] in named_modules order, which says nothing of the order of calls.
struct ModelTree {
  struct Module {
    std::string path;        ///< "model.layers.7.self_attn"; the root's may be empty
    std::string class_name;  ///< without its import path: "Qwen3Attention"
    int32_t parent = -1;     ///< index; -1: the root
  };
  std::vector<Module> modules;  ///< parents first, in definition order
  /// Indices of `modules` in order of first call: the k-th of a class is `Class_k` in a trace.
  /// Empty when the file has no `call_order`.
  std::vector<uint32_t> call_order;
  std::vector<uint32_t> by_path;  ///< indices of `modules`, sorted by path
  std::string model;
  std::string engine;

  int32_t Find(std::string_view path) const;  ///< -1: no module of that path
};

/// kInvalidInput: neither of the two forms, with what it is instead where that can be told.
base::Result<ModelTree> ParseModelTree(std::string_view text, const std::string& origin);
/// A model_tree.json, or the one in a directory.
base::Result<ModelTree> LoadModelTree(const std::string& path);

}  // namespace layerscope::model
