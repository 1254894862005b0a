#include "src/analysis/summary_tree.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace layerscope::analysis {
namespace {

constexpr int64_t kSmallestShare = 100;

}  // namespace

std::vector<ModuleNode> ChooseTopModules(const std::vector<ModuleNode>& collapsed, int64_t total_ns,
                                         size_t n_rows) {
  std::vector<std::vector<size_t>> children(collapsed.size());
  std::vector<size_t> roots;
  for (size_t i = 0; i < collapsed.size(); ++i) {
    const ModuleNode& node = collapsed[i];
    if (node.gpu_incl_ns <= 0 || node.gpu_incl_ns < total_ns / kSmallestShare) continue;
    (node.parent < 0 ? roots : children[static_cast<size_t>(node.parent)]).push_back(i);
  }
  std::stable_sort(roots.begin(), roots.end(), [&](size_t a, size_t b) {
    return collapsed[a].gpu_incl_ns > collapsed[b].gpu_incl_ns;
  });
  if (roots.size() > n_rows) roots.resize(n_rows);
  std::vector<uint8_t> shown(collapsed.size(), 0);
  std::priority_queue<std::pair<int64_t, int64_t>> open;  // time, then the earlier node
  size_t n_shown = 0;
  const auto show = [&](const std::vector<size_t>& nodes) {
    n_shown += nodes.size();
    for (const size_t node : nodes) {
      shown[node] = 1;
      open.push({collapsed[node].gpu_incl_ns, -static_cast<int64_t>(node)});
    }
  };
  show(roots);
  while (!open.empty()) {
    const std::vector<size_t>& below = children[static_cast<size_t>(-open.top().second)];
    open.pop();
    if (!below.empty() && n_shown + below.size() <= n_rows) show(below);
  }
  std::vector<int64_t> new_id(collapsed.size(), -1);
  std::vector<ModuleNode> rows;
  for (size_t i = 0; i < collapsed.size(); ++i) {
    if (shown[i] == 0) continue;
    new_id[i] = static_cast<int64_t>(rows.size());
    ModuleNode row = collapsed[i];
    row.id = new_id[i];
    if (row.parent >= 0) row.parent = new_id[static_cast<size_t>(row.parent)];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace layerscope::analysis
