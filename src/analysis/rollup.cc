#include "src/analysis/rollup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "src/analysis/module_tree_view.h"
#include "src/analysis/pattern.h"
#include "src/base/nearest.h"
#include "src/base/string_map.h"

namespace layerscope::analysis {
namespace {

struct KeyAndCaptures {
  std::string key;
  std::vector<std::string> captures;
};

KeyAndCaptures MatchPath(const std::regex& pattern, const std::string& path) {
  std::smatch match;
  if (!std::regex_search(path, match, pattern)) return {std::string(kOtherModules), {}};
  KeyAndCaptures result;
  for (size_t i = 1; i < match.size(); ++i) result.captures.push_back(match[i].str());
  result.key =
      match.size() == 1 ? match[0].str() : fmt::format("{}", fmt::join(result.captures, "."));
  return result;
}

/// Tells whether an ancestor of a node has the node's own row, for nodes in depth-first order.
class OpenRows {
 public:
  explicit OpenRows(const std::vector<ModuleNode>& nodes) : ends_(SubtreeEnds(nodes)) {}

  /// Enters node `at`, whose row is `row`; true when that row was open already.
  bool Enter(size_t at, size_t row) {
    while (!path_.empty() && ends_[path_.back().first] <= at) {
      --n_open_[path_.back().second];
      path_.pop_back();
    }
    if (n_open_.size() <= row) n_open_.resize(row + 1, 0);
    path_.emplace_back(at, row);
    return n_open_[row]++ > 0;
  }
  /// Some row but `row` is open.
  bool AnyBut(size_t row) const { return path_.size() > n_open_[row]; }

 private:
  std::vector<size_t> ends_;
  std::vector<std::pair<size_t, size_t>> path_;  ///< ancestors: node and row
  std::vector<uint32_t> n_open_;                 ///< by row
};

void AddOwn(RollupRow& row, const ModuleNode& node) {
  row.gpu_excl_ns += node.gpu_excl_ns;
  row.kernel_excl_ns += node.kernel_excl_ns;
  row.kernels_excl += node.kernels_excl;
  for (size_t e = 0; e < row.evidence_ns.size(); ++e) row.evidence_ns[e] += node.evidence_ns[e];
}

/// Of a module that matches nothing and lies in none that does.
void AddOther(RollupRow& row, const ModuleNode& node) {
  row.cpu_ns += node.cpu_self_ns;
  row.gpu_incl_ns += node.gpu_excl_ns;
  row.kernel_incl_ns += node.kernel_excl_ns;
  row.kernels_incl += node.kernels_excl;
  row.activities_incl += node.activities_excl;
}

void AddOutermost(RollupRow& row, const ModuleNode& node) {
  row.calls += node.calls;
  row.cpu_ns += node.cpu_ns;
  row.gpu_incl_ns += node.gpu_incl_ns;
  row.kernel_incl_ns += node.kernel_incl_ns;
  row.kernels_incl += node.kernels_incl;
  row.activities_incl += node.activities_incl;
}

}  // namespace

std::string FoldNumbers(std::string_view path) {
  std::string folded;
  for (size_t i = 0; i < path.size();) {
    const bool starts_number = i == 0 || path[i - 1] == '.' || path[i - 1] == '_';
    size_t end = i;
    while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end])) != 0) ++end;
    const bool ends_name = end == path.size() || path[end] == '.';
    if (end > i && starts_number && ends_name) {
      folded += '*';
    } else {
      end = std::max(end, i + 1);
      folded += path.substr(i, end - i);
    }
    i = end;
  }
  return folded;
}

base::Result<std::vector<RollupRow>> RollUp(const std::vector<ModuleNode>& nodes,
                                            const std::string& by) {
  std::regex pattern;
  const bool by_pattern = by != "class" && by != "path";
  if (by_pattern) {
    base::Result<std::regex> compiled = CompilePattern(by);
    if (!compiled.ok()) return std::move(compiled).error();
    pattern = *std::move(compiled);
  }
  const auto key_of = [&](const ModuleNode& node) -> KeyAndCaptures {
    if (by == "class") return {node.class_name, {}};
    if (by == "path") return {FoldNumbers(node.path), {}};
    return MatchPath(pattern, node.path);
  };
  std::vector<RollupRow> rows;
  OpenRows open(nodes);
  base::StringArena arena;
  base::StringMap<size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) {
    KeyAndCaptures key = key_of(nodes[i]);
    auto found = index.find(key.key);
    if (found == index.end()) {
      found = index.emplace(arena.Store(key.key), rows.size()).first;
      RollupRow row;
      row.key = std::move(key.key);
      row.captures = std::move(key.captures);
      rows.push_back(std::move(row));
    }
    const size_t at = found->second;
    const bool outermost = !open.Enter(i, at);
    const bool is_other = by_pattern && rows[at].key == kOtherModules;
    if (outermost || is_other || !by_pattern) ++rows[at].n_modules;
    AddOwn(rows[at], nodes[i]);
    if (is_other) {
      if (!open.AnyBut(at)) AddOther(rows[at], nodes[i]);
    } else if (outermost) {
      AddOutermost(rows[at], nodes[i]);
    }
  }
  if (by_pattern && (rows.empty() || (rows.size() == 1 && rows.front().key == kOtherModules))) {
    const std::string words[] = {"class", "path"};
    return base::Error{
        base::ErrorCode::kNotFound,
        fmt::format("no module path matches '{}'{}", by, base::DidYouMean(by, words)),
        ExampleOf(nodes)};
  }
  if (!by_pattern) {
    std::stable_sort(rows.begin(), rows.end(), [](const RollupRow& a, const RollupRow& b) {
      return a.gpu_incl_ns > b.gpu_incl_ns;
    });
  }
  return rows;
}

void OrderForPeople(std::vector<RollupRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const RollupRow& a, const RollupRow& b) {
    const bool a_is_other = a.key == kOtherModules;
    const bool b_is_other = b.key == kOtherModules;
    if (a_is_other != b_is_other) return b_is_other;
    return a.gpu_incl_ns > b.gpu_incl_ns;
  });
}

}  // namespace layerscope::analysis
