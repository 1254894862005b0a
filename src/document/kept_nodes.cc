#include "src/document/kept_nodes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace layerscope::document {

std::vector<uint8_t> NodesOfRows(const analysis::RankView& view) {
  const trace::Trace& trace = view.trace();
  const trace::GraphNodes& nodes = trace.graph_nodes;
  std::vector<uint8_t> kept(nodes.size(), 0);
  if (nodes.size() == 0 || view.cpu_only()) return kept;
  using Key = std::pair<trace::ProcessId, int64_t>;
  std::vector<std::pair<Key, uint32_t>> rows_of;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    rows_of.emplace_back(Key(nodes.process[i], nodes.node[i]), i);
  }
  std::sort(rows_of.begin(), rows_of.end());
  std::set<Key> wanted;
  for (const uint32_t row : view.rows()) {
    const int64_t node = trace.activities.GraphNodeOf(row);
    if (node != trace::kNoGraphNode) wanted.emplace(trace.activities.process[row], node);
  }
  std::vector<Key> open(wanted.begin(), wanted.end());
  while (!open.empty()) {
    const Key key = open.back();
    open.pop_back();
    auto at = std::lower_bound(rows_of.begin(), rows_of.end(), std::pair(key, uint32_t{0}));
    for (; at != rows_of.end() && at->first == key; ++at) {
      kept[at->second] = 1;
      const Key original(key.first, nodes.original[at->second]);
      const bool is_new = original.second != trace::kNoGraphNode && wanted.insert(original).second;
      if (is_new) open.push_back(original);
    }
  }
  return kept;
}

}  // namespace layerscope::document
