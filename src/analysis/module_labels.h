#pragma once

#include <string>
#include <vector>

#include "src/analysis/module_nodes.h"
#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// What people see for the model itself where modules are known by path: its path is empty.
inline constexpr const char* kModelPath = "[model]";
/// A path, or kModelPath.
std::string ShownPath(std::string path);

/// Turns the rows of a tree into what people read. Where the path is known, `instance` becomes the
/// part of it below the parent's ("q_proj", "layers.0..3") and `class_name` stays where it says
/// more than that; elsewhere `instance` stays and `class_name` is emptied. Runs get their number in
/// front. `parent` is an index into `rows`.
void LabelRows(std::vector<ModuleNode>& rows);

/// "paths: model_tree.json, 66 of 66 modules"; empty without a model tree that fits.
std::string PathsText(const RankView& view);
/// A file as people see it: its path, and whether nobody named it.
std::string ShownFile(const RankView& view, const std::string& path);

}  // namespace layerscope::analysis
