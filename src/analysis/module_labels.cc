#include "src/analysis/module_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

/// The part of a path below its parent's; the whole path where it lies elsewhere.
std::string_view PartBelow(std::string_view path, const ModuleNode* parent) {
  if (parent == nullptr || !parent->has_path || parent->path.empty()) return path;
  const std::string_view above = parent->path;
  const bool below =
      path.size() > above.size() + 1 && path.starts_with(above) && path[above.size()] == '.';
  return below ? path.substr(above.size() + 1) : path;
}

/// False for "layers" beside "layers.0..3": a class that is only the path's last part.
bool SaysMore(std::string_view class_name, std::string_view label) {
  return !label.starts_with(class_name) && !label.ends_with(class_name);
}

}  // namespace

std::string ShownPath(std::string path) {
  if (path.empty()) path = kModelPath;
  return path;
}

void LabelRows(std::vector<ModuleNode>& rows) {
  for (ModuleNode& row : rows) {
    const ModuleNode* const parent =
        row.parent < 0 ? nullptr : &rows[static_cast<size_t>(row.parent)];
    if (row.has_path && !row.path.empty()) {
      row.instance = PartBelow(row.path, parent);
    } else if (row.has_path) {
      row.instance = row.class_name;
    }
    if (row.instance.empty()) row.instance = kModelPath;
    if (!row.has_path || !SaysMore(row.class_name, row.instance)) row.class_name.clear();
    if (row.repeat > 1) row.instance = fmt::format("×{} {}", row.repeat, row.instance);
  }
}

std::string PathsText(const RankView& view) {
  const std::string& file = view.input().model_tree;
  std::vector<std::string> from;
  if (!view.trace().scopes.path.empty()) from.emplace_back("module ranges in the trace");
  if (!file.empty()) from.push_back(ShownFile(view, file));
  if (from.empty()) return {};
  const std::vector<attribution::Module>& modules = view.attribution().modules.modules;
  const auto n_named =
      std::count_if(modules.begin(), modules.end(),
                    [](const attribution::Module& module) { return module.path.valid(); });
  return fmt::format("paths: {}, {} of {}", fmt::join(from, " and "), base::FormatCount(n_named),
                     base::FormatCounted(modules.size(), "module"));
}

std::string ShownFile(const RankView& view, const std::string& path) {
  const std::vector<std::string>& beside = view.input().files_beside;
  const bool is_found = std::find(beside.begin(), beside.end(), path) != beside.end();
  return is_found ? path + " (found beside the trace)" : path;
}

}  // namespace layerscope::analysis
