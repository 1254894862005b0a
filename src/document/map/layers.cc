#include "src/document/map/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/document/map/found_layers.h"
#include "src/document/map/values.h"

namespace layerscope::document {
namespace {

using table::Array;
using table::Object;

constexpr uint32_t kNone = MapNode::kNone;

/// The layers of the model: the stretch with children that has the most time. An outer stretch has
/// no less time than what lies in it; of equals the larger one, so that one model under another
/// name is not taken for a layer.
uint32_t FindStretch(const Execution& execution) {
  const std::vector<ExecutionNode>& nodes = execution.tree.nodes;
  uint32_t best = kNone;
  std::pair<int64_t, int64_t> most{-1, -1};
  for (uint32_t s = 0; s < execution.folds.stretches.size(); ++s) {
    const Stretch& stretch = execution.folds.stretches[s];
    if (!stretch.has_children) continue;
    std::pair<int64_t, int64_t> time{0, 0};
    for (const uint32_t node : stretch.members) {
      time.first += nodes[node].sums.gpu_ns;
      time.second = std::max(time.second, nodes[node].cpu_ns);
    }
    const bool outer = best != kNone && time == most &&
                       stretch.members.size() > execution.folds.stretches[best].members.size();
    if (time <= most && !outer) continue;
    most = time;
    best = s;
  }
  return best;
}

/// Lists ops in the order in which they run: of a module and those below it.
class OpLister {
 public:
  OpLister(const Execution& execution, const NodeWriter& writer)
      : map_(execution.map), writer_(writer) {}

  void AddBelow(uint32_t id, const std::string& name, Array& list) const {
    for (const uint32_t item : Items(id)) Add(id, item, name, list);
  }
  /// What stands in `id` before or after `path`'s next step, all the way down to `path`'s last.
  void AddAround(const std::vector<uint32_t>& path, size_t level, int64_t first_seq,
                 int64_t last_seq, bool before, Array& list) const {
    const bool deepest = level + 1 == path.size();
    const int64_t from = deepest ? first_seq : map_.nodes[path[level + 1]].seq;
    const int64_t to = deepest ? last_seq : from;
    const auto add = [&](bool wanted_before) {
      for (const uint32_t item : Items(path[level])) {
        const int64_t seq = map_.nodes[item].seq;
        if (wanted_before ? seq < from : seq > to) Add(path[level], item, "", list);
      }
    };
    if (before) add(true);
    if (!deepest) AddAround(path, level + 1, first_seq, last_seq, before, list);
    if (!before) add(false);
  }

 private:
  void Add(uint32_t parent, uint32_t item, const std::string& name, Array& list) const {
    const std::vector<uint32_t>& ops = map_.nodes[parent].ops;
    if (std::find(ops.begin(), ops.end(), item) != ops.end()) {
      Object op = writer_.ListedOp(item, name);
      op.emplace_back("seq", list.size());
      list.emplace_back(std::move(op));
      return;
    }
    const std::string own = writer_.NameOf(item);
    AddBelow(item, name.empty() ? own : fmt::format("{}.{}", name, own), list);
  }

  std::vector<uint32_t> Items(uint32_t id) const {
    std::vector<uint32_t> items = map_.nodes[id].modules;
    items.insert(items.end(), map_.nodes[id].ops.begin(), map_.nodes[id].ops.end());
    std::sort(items.begin(), items.end(),
              [this](uint32_t a, uint32_t b) { return map_.nodes[a].seq < map_.nodes[b].seq; });
    return items;
  }

  const ExecutionMap& map_;
  const NodeWriter& writer_;
};

/// The nodes of the map that show a stretch: one a type, or one a layer when nothing is collapsed.
std::vector<uint32_t> NodesOf(const ExecutionMap& map, uint32_t stretch) {
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < map.nodes.size(); ++i) {
    if (map.nodes[i].stretch == stretch) nodes.push_back(i);
  }
  return nodes;
}

void WriteTemplates(const Execution& execution, const NodeWriter& writer, const Stretch& stretch,
                    const std::vector<uint32_t>& shown, LayerParts& parts) {
  const OpLister lister(execution, writer);
  std::vector<uint32_t> written(stretch.n_types, 0);
  int64_t most = 0;
  for (const uint32_t id : shown) {
    const uint32_t first = execution.map.nodes[id].members.front().node;
    const auto at = std::find(stretch.members.begin(), stretch.members.end(), first);
    if (at == stretch.members.end()) continue;
    const uint32_t type = stretch.types[static_cast<size_t>(at - stretch.members.begin())];
    if (std::exchange(written[type], 1) != 0) continue;
    Array layers;
    for (size_t i = 0; i < stretch.members.size(); ++i) {
      if (stretch.types[i] == type) layers.emplace_back(i);
    }
    const auto n = static_cast<int64_t>(layers.size());
    Array ops;
    lister.AddBelow(id, "", ops);
    if (n > most) {
      most = n;
      parts.layer_template = ops;
      parts.ops_per_layer = static_cast<int64_t>(ops.size());
    }
    const attribution::ModuleId module = execution.tree.nodes[first].module;
    Object one{{"type", TypeName(type)},
               {"class", std::string(execution.names.ClassOf(module))},
               {"layers", std::move(layers)}};
    if (stretch.n_types > 1) one.emplace_back("ops", std::move(ops));
    parts.layer_templates.emplace_back(std::move(one));
  }
}

void WritePerLayer(const Execution& execution, const Stretch& stretch, LayerParts& parts) {
  for (size_t i = 0; i < stretch.members.size(); ++i) {
    const ExecutionNode& node = execution.tree.nodes[stretch.members[i]];
    const int64_t number = execution.names.NumberOf(node.module);
    const bool in_list = !execution.names.ListOf(node.module).empty();
    Object layer{{"index", in_list ? number : static_cast<int64_t>(i)},
                 {"path", execution.names.PathOf(node.module)},
                 {"class", std::string(execution.names.ClassOf(node.module))},
                 {"type", TypeName(stretch.types[i])},
                 {"dur_us", Microseconds(node.cpu_ns)},
                 {"cpu_ns", node.cpu_ns}};
    node.sums.WriteTo(layer);
    parts.per_layer.emplace_back(std::move(layer));
  }
}

void WriteAround(const Execution& execution, const NodeWriter& writer,
                 const std::vector<uint32_t>& shown, LayerParts& parts) {
  const ExecutionMap& map = execution.map;
  std::vector<uint32_t> path;
  for (uint32_t at = map.nodes[shown.front()].parent; at != kNone; at = map.nodes[at].parent) {
    path.insert(path.begin(), at);
  }
  int64_t first = map.nodes[shown.front()].seq;
  int64_t last = first;
  for (const uint32_t id : shown) {
    first = std::min(first, map.nodes[id].seq);
    last = std::max(last, map.nodes[id].seq);
  }
  const OpLister lister(execution, writer);
  const uint32_t top = path.empty() ? shown.front() : path.front();
  bool before = true;
  for (const uint32_t root : map.roots) {
    const bool is_layer = std::find(shown.begin(), shown.end(), root) != shown.end();
    if (root == top && !path.empty()) {
      lister.AddAround(path, 0, first, last, true, parts.pre_layers);
      lister.AddAround(path, 0, first, last, false, parts.post_layers);
    } else if (!is_layer) {
      lister.AddBelow(root, writer.NameOf(root), before ? parts.pre_layers : parts.post_layers);
    }
    if (root == top) before = false;
  }
}

}  // namespace

std::string TypeName(uint32_t type) {
  constexpr uint32_t kLetters = 26;
  return type < kLetters ? std::string(1, static_cast<char>('A' + type)) : fmt::format("T{}", type);
}

std::string PatternText(const std::vector<uint32_t>& types) {
  const size_t n = types.size();
  for (size_t period = 2; period <= n / 2 && period <= kMostOccurrences; ++period) {
    if (n % period != 0 ||
        !std::equal(types.begin() + static_cast<int64_t>(period), types.end(), types.begin())) {
      continue;
    }
    if (std::all_of(types.begin(), types.end(), [&](uint32_t t) { return t == types[0]; })) break;
    std::string text = "(";
    for (size_t i = 0; i < period; ++i) text += (i > 0 ? " " : "") + TypeName(types[i]);
    return text + fmt::format(")×{}", n / period);
  }
  std::string text;
  for (size_t i = 0; i < n;) {
    size_t end = i;
    while (end < n && types[end] == types[i]) ++end;
    text += fmt::format("{}{}×{}", text.empty() ? "" : " ", TypeName(types[i]), end - i);
    i = end;
  }
  return text;
}

LayerParts WriteLayers(const Execution& execution, const NodeWriter& writer) {
  const uint32_t found = FindStretch(execution);
  if (found == kNone) return WriteFoundLayers(execution);
  const Stretch& stretch = execution.folds.stretches[found];
  const std::vector<uint32_t> shown = NodesOf(execution.map, found);
  LayerParts parts;
  parts.source = "modules";
  parts.layers = static_cast<int64_t>(stretch.members.size());
  parts.pattern = PatternText(stretch.types);
  WritePerLayer(execution, stretch, parts);
  if (shown.empty()) return parts;
  WriteTemplates(execution, writer, stretch, shown, parts);
  WriteAround(execution, writer, shown, parts);
  return parts;
}

}  // namespace layerscope::document
