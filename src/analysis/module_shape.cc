#include "src/analysis/module_shape.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/module_path.h"
#include "src/analysis/module_range.h"

namespace layerscope::analysis {
namespace {

using Run = std::vector<uint32_t>;

/// Splits siblings into runs by shape; a run that is not folded falls apart into single rows.
/// Roots of two processes stay apart.
std::vector<Run> RunsOf(const std::vector<ModuleNode>& nodes, const Run& siblings,
                        const ModuleShapes& shapes) {
  std::vector<Run> runs;
  for (size_t i = 0; i < siblings.size();) {
    size_t end = i + 1;
    const uint32_t shape = shapes.shape_of[siblings[i]];
    const LabelValue& pid = nodes[siblings[i]].place.pid;
    while (end < siblings.size() && shapes.shape_of[siblings[end]] == shape &&
           nodes[siblings[end]].place.pid == pid) {
      ++end;
    }
    const bool is_leaf = shapes.runs_of[siblings[i]].empty();
    if (end - i >= (is_leaf ? kLeafRun : 2)) {
      runs.emplace_back(siblings.begin() + i, siblings.begin() + end);
    } else {
      for (size_t k = i; k < end; ++k) runs.push_back({siblings[k]});
    }
    i = end;
  }
  return runs;
}

std::vector<Run> ChildrenOf(const std::vector<ModuleNode>& nodes, Run& roots) {
  std::vector<Run> children(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    Run& siblings = nodes[i].parent < 0 ? roots : children[static_cast<size_t>(nodes[i].parent)];
    siblings.push_back(i);
  }
  return children;
}

std::string RangePathOf(const std::vector<ModuleNode>& nodes, const Run& members,
                        std::string ModuleNode::*text) {
  std::vector<std::string_view> texts;
  for (const uint32_t member : members) texts.emplace_back(nodes[member].*text);
  return RangePath(texts);
}

/// "Layer_0..35" of Layer_0, Layer_1, …; the name itself when all members have one.
std::string NameOfRun(const std::vector<ModuleNode>& nodes, const Run& members) {
  const ModuleNode& first = nodes[members.front()];
  std::vector<int64_t> numbers;
  bool one_name = true;
  for (const uint32_t member : members) {
    const std::string& name = nodes[member].instance;
    one_name = one_name && name == first.instance;
    numbers.push_back(attribution::SplitInstance(name).number);
  }
  if (one_name) return first.instance;
  const bool numbered = std::find(numbers.begin(), numbers.end(), -1) == numbers.end();
  if (numbered) return RangeName(first.class_name, std::move(numbers));
  const std::string range = RangePathOf(nodes, members, &ModuleNode::instance);
  return range.empty() || range.find('*') != std::string::npos ? first.class_name : range;
}

/// The path of a row under one with the path `above`.
std::string PathOfRun(const std::vector<ModuleNode>& nodes, const Run& members,
                      const std::string& above, const ModuleNode& row) {
  const auto known = [&](uint32_t member) { return nodes[member].has_path; };
  if (!std::all_of(members.begin(), members.end(), known)) {
    return JoinPath(above, row.instance, row.depth);
  }
  if (members.size() == 1) return nodes[members.front()].path;
  const std::string range = RangePathOf(nodes, members, &ModuleNode::path);
  return range.empty() ? JoinPath(above, row.instance, row.depth) : range;
}

ModuleNode Merge(const std::vector<ModuleNode>& nodes, const Run& members) {
  ModuleNode merged = nodes[members.front()];
  for (size_t i = 1; i < members.size(); ++i) {
    const ModuleNode& node = nodes[members[i]];
    merged.calls += node.calls;
    merged.captured_calls += node.captured_calls;
    merged.cpu_ns += node.cpu_ns;
    merged.cpu_self_ns += node.cpu_self_ns;
    merged.gpu_incl_ns += node.gpu_incl_ns;
    merged.gpu_excl_ns += node.gpu_excl_ns;
    if (merged.gpu_busy_ns) *merged.gpu_busy_ns += node.gpu_busy_ns.value_or(0);
    merged.kernel_incl_ns += node.kernel_incl_ns;
    merged.kernel_excl_ns += node.kernel_excl_ns;
    merged.kernels_incl += node.kernels_incl;
    merged.kernels_excl += node.kernels_excl;
    merged.activities_incl += node.activities_incl;
    merged.activities_excl += node.activities_excl;
    merged.repeat += node.repeat;
    merged.min_incl_ns = std::min(merged.min_incl_ns, node.min_incl_ns);
    merged.max_incl_ns = std::max(merged.max_incl_ns, node.max_incl_ns);
    for (size_t e = 0; e < merged.evidence_ns.size(); ++e) {
      merged.evidence_ns[e] += node.evidence_ns[e];
    }
    if (node.place.device != merged.place.device) merged.place.device = LabelValue();
    if (node.place.pid != merged.place.pid) merged.place.pid = merged.place.rank = LabelValue();
  }
  return merged;
}

/// A row to write: like modules, and the row that they stand under.
struct Pending {
  Run members;
  int64_t parent = -1;
};

}  // namespace

ModuleShapes FindShapes(const std::vector<ModuleNode>& nodes) {
  ModuleShapes shapes;
  shapes.shape_of.resize(nodes.size());
  shapes.runs_of.resize(nodes.size());
  Run roots;
  const std::vector<Run> children = ChildrenOf(nodes, roots);
  std::map<std::pair<std::string_view, Run>, uint32_t> known;
  for (size_t i = nodes.size(); i-- > 0;) {
    shapes.runs_of[i] = RunsOf(nodes, children[i], shapes);
    Run below;
    for (const Run& run : shapes.runs_of[i]) {
      below.push_back(shapes.shape_of[run.front()] * 2 + (run.size() > 1 ? 1 : 0));
    }
    const auto next = static_cast<uint32_t>(known.size());
    shapes.shape_of[i] =
        known.try_emplace({nodes[i].class_name, std::move(below)}, next).first->second;
  }
  shapes.root_runs = RunsOf(nodes, roots, shapes);
  return shapes;
}

std::vector<ModuleNode> CollapseRuns(const std::vector<ModuleNode>& nodes) {
  const ModuleShapes shapes = FindShapes(nodes);
  std::vector<ModuleNode> rows;
  std::vector<Pending> stack;
  for (size_t r = shapes.root_runs.size(); r-- > 0;) stack.push_back({shapes.root_runs[r], -1});
  while (!stack.empty()) {
    const Pending pending = std::move(stack.back());
    stack.pop_back();
    const auto id = static_cast<int64_t>(rows.size());
    ModuleNode row = Merge(nodes, pending.members);
    row.id = id;
    row.parent = pending.parent;
    if (pending.members.size() > 1) row.instance = NameOfRun(nodes, pending.members);
    static const std::string kRoot;
    const std::string& above =
        pending.parent < 0 ? kRoot : rows[static_cast<size_t>(pending.parent)].path;
    row.path = PathOfRun(nodes, pending.members, above, row);
    rows.push_back(std::move(row));
    const size_t n_runs = shapes.runs_of[pending.members.front()].size();
    for (size_t r = n_runs; r-- > 0;) {
      Run members;
      for (const uint32_t member : pending.members) {
        const Run& run = shapes.runs_of[member][r];
        members.insert(members.end(), run.begin(), run.end());
      }
      stack.push_back({std::move(members), id});
    }
  }
  return rows;
}

}  // namespace layerscope::analysis
