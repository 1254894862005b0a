#include "src/analysis/module_tree_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/analysis/module_range.h"
#include "src/analysis/module_shape.h"
#include "src/analysis/pattern.h"
#include "src/base/nearest.h"

namespace layerscope::analysis {
namespace {

/// A tree that people can take in at once.
constexpr size_t kRowsThatFit = 40;

/// Keeps the marked nodes, renumbered. A kept node whose parent is not kept becomes a root.
std::vector<ModuleNode> Keep(const std::vector<ModuleNode>& nodes,
                             const std::vector<uint8_t>& keep) {
  std::vector<int64_t> new_id(nodes.size(), -1);
  std::vector<ModuleNode> kept;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (keep[i] == 0) continue;
    new_id[i] = static_cast<int64_t>(kept.size());
    ModuleNode node = nodes[i];
    node.id = new_id[i];
    if (node.parent >= 0) node.parent = new_id[static_cast<size_t>(node.parent)];
    kept.push_back(std::move(node));
  }
  return kept;
}

bool Names(const ModuleNode& node, const std::string& name) {
  if (node.instance == name || node.path == name || node.class_name == name) return true;
  return node.path.size() > name.size() && node.path.ends_with(name) &&
         node.path[node.path.size() - name.size() - 1] == '.';
}

bool InRange(const std::vector<ModuleNode>& nodes, size_t node, const ModuleRange& range) {
  if (range.MatchesPath(nodes[node].path)) return true;
  return range.Matches([&](size_t level) -> std::optional<std::string_view> {
    auto at = static_cast<int64_t>(node);
    for (; level > 0 && at >= 0; --level) at = nodes[static_cast<size_t>(at)].parent;
    if (at < 0) return std::nullopt;
    return nodes[static_cast<size_t>(at)].instance;
  });
}

base::Result<std::vector<uint8_t>> BelowRoot(const std::vector<ModuleNode>& nodes,
                                             const std::string& root) {
  const std::optional<ModuleRange> range = ModuleRange::Parse(root);
  const bool has_range = range && !range->irregular();
  std::vector<uint8_t> keep(nodes.size(), 0);
  bool found = false;
  std::vector<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t parent = nodes[i].parent;
    const bool below = parent >= 0 && keep[static_cast<size_t>(parent)] != 0;
    const bool named = Names(nodes[i], root) || (has_range && InRange(nodes, i, *range));
    keep[i] = below || named ? 1 : 0;
    found = found || keep[i] != 0;
    names.push_back(nodes[i].instance);
  }
  if (found) return keep;
  return base::Error{
      base::ErrorCode::kNotFound,
      fmt::format("no module '{}' in this input{}", root, base::DidYouMean(root, names)),
      ExampleOf(nodes)};
}

base::Result<std::vector<uint8_t>> Matching(const std::vector<ModuleNode>& nodes,
                                            const std::string& text) {
  base::Result<std::regex> pattern = CompilePattern(text);
  if (!pattern.ok()) return std::move(pattern).error();
  std::vector<uint8_t> keep(nodes.size(), 0);
  for (size_t i = nodes.size(); i-- > 0;) {
    if (keep[i] == 0 && std::regex_search(nodes[i].path, *pattern)) keep[i] = 1;
    if (keep[i] != 0 && nodes[i].parent >= 0) keep[static_cast<size_t>(nodes[i].parent)] = 1;
  }
  if (std::find(keep.begin(), keep.end(), 1) == keep.end()) {
    return base::Error{base::ErrorCode::kNotFound, fmt::format("no module path matches '{}'", text),
                       ExampleOf(nodes)};
  }
  return keep;
}

/// The deepest level at which the list still fits; at least the roots.
int64_t DepthThatFits(const std::vector<ModuleNode>& nodes) {
  std::vector<size_t> rows_at;
  for (const ModuleNode& node : nodes) {
    const auto depth = static_cast<size_t>(node.depth);
    if (rows_at.size() <= depth) rows_at.resize(depth + 1, 0);
    ++rows_at[depth];
  }
  size_t rows = 0;
  int64_t fits = 0;
  for (size_t depth = 0; depth < rows_at.size(); ++depth) {
    rows += rows_at[depth];
    if (rows > kRowsThatFit && fits > 0) return fits;
    if (rows > 0) fits = static_cast<int64_t>(depth);
  }
  return fits;
}

std::vector<uint8_t> DownTo(const std::vector<ModuleNode>& nodes, int64_t depth) {
  std::vector<uint8_t> keep(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) keep[i] = nodes[i].depth <= depth ? 1 : 0;
  return keep;
}

}  // namespace

std::string ExampleOf(const std::vector<ModuleNode>& nodes) {
  if (nodes.empty()) {
    return "there are no nn.Module scopes here; record with with_stack=True, or select more";
  }
  // The deepest one shows every level's spelling.
  const auto deepest =
      std::max_element(nodes.begin(), nodes.end(),
                       [](const ModuleNode& a, const ModuleNode& b) { return a.depth < b.depth; });
  return fmt::format("paths look like {}", deepest->path);
}

base::Result<ModuleTreeView> ViewTree(const ModuleNodes& tree, const ModulesOptions& options) {
  if (options.depth == 0) {
    return base::Error{base::ErrorCode::kUsage, "--depth 0 would list nothing",
                       "the roots have depth 1"};
  }
  ModuleTreeView view;
  view.nodes = tree.nodes;
  const auto apply = [&view](const std::vector<uint8_t>& keep) {
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i] != 0) continue;
      view.n_not_listed += view.nodes[i].repeat;
      view.not_listed_excl_ns += view.nodes[i].gpu_excl_ns;
    }
    view.nodes = Keep(view.nodes, keep);
  };
  if (!options.root.empty()) {
    base::Result<std::vector<uint8_t>> keep = BelowRoot(view.nodes, options.root);
    if (!keep.ok()) return std::move(keep).error();
    apply(*keep);
  }
  if (!options.match.empty()) {
    base::Result<std::vector<uint8_t>> keep = Matching(view.nodes, options.match);
    if (!keep.ok()) return std::move(keep).error();
    apply(*keep);
  }
  const bool for_people = options.presentation.for_people;
  if (options.rollup.empty() && options.collapse.value_or(for_people)) {
    view.nodes = CollapseRuns(view.nodes);
  }
  if (options.depth) {
    apply(DownTo(view.nodes, *options.depth));
  } else if (for_people && options.rollup.empty() && !options.presentation.rows) {
    apply(DownTo(view.nodes, DepthThatFits(view.nodes)));
  }
  return view;
}

std::vector<ModuleNode> SortSiblings(std::vector<ModuleNode> nodes,
                                     const std::vector<size_t>& rank_of) {
  std::vector<std::vector<size_t>> children(nodes.size());
  std::vector<size_t> roots;
  for (size_t i = 0; i < nodes.size(); ++i) {
    (nodes[i].parent < 0 ? roots : children[static_cast<size_t>(nodes[i].parent)]).push_back(i);
  }
  const auto push_sorted = [&](std::vector<size_t>& siblings, std::vector<size_t>& stack) {
    std::sort(siblings.begin(), siblings.end(),
              [&](size_t a, size_t b) { return rank_of[a] > rank_of[b]; });
    stack.insert(stack.end(), siblings.begin(), siblings.end());
  };
  std::vector<int64_t> new_id(nodes.size(), -1);
  std::vector<ModuleNode> sorted;
  std::vector<size_t> stack;
  push_sorted(roots, stack);
  while (!stack.empty()) {
    const size_t at = stack.back();
    stack.pop_back();
    new_id[at] = static_cast<int64_t>(sorted.size());
    ModuleNode node = std::move(nodes[at]);
    node.id = new_id[at];
    if (node.parent >= 0) node.parent = new_id[static_cast<size_t>(node.parent)];
    sorted.push_back(std::move(node));
    push_sorted(children[at], stack);
  }
  return sorted;
}

}  // namespace layerscope::analysis
