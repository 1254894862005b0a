#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// The path of a module under `parent` (empty = a root). Paths of absurd length keep their end
/// behind "…": no model nests so deep, and a hostile file must not take memory by the square of its
/// depth.
std::string JoinPath(const std::string& parent, std::string_view name, int depth);

/// The path of every module, by ModuleId: as recorded or as a model tree has it, else its parent's
/// with its own name.
std::vector<std::string> ModulePaths(const RankView& view);

/// 1 for each module that `name` means, and all below it: a full path, the end of a path at a dot
/// ("self_attn.qkv_proj"), an instance ("Attention_3"), a class ("Attention"), or the name or path
/// of a row that stands for several modules ("Attention_0..35", "model.layers.0..35", see
/// ModuleRange).
std::vector<uint8_t> ModulesBelow(const RankView& view, std::string_view name);

/// The distinct classes, then instances: what an error suggests.
std::vector<std::string> ModuleNames(const RankView& view);

}  // namespace layerscope::analysis
