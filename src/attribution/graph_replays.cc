#include "src/attribution/graph_replays.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "src/base/hash.h"

namespace layerscope::attribution {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

uint64_t Hash(trace::ProcessId process, int64_t number) {
  return base::MixIn(base::Mix(process.index()), static_cast<uint64_t>(number));
}

/// Numbers launches in order of first activity.
class ReplayNumbers {
 public:
  ReplayNumbers(const trace::Trace& trace, const std::vector<trace::CallId>& launch)
      : activities_(trace.activities), launch_(launch), of_call_(trace.calls.size(), kNone) {}

  uint32_t Of(uint32_t row) {
    uint32_t& known = launch_[row].valid() ? of_call_[launch_[row].index()] : WithoutCall(row);
    if (known == kNone) known = n_++;
    return known;
  }
  uint32_t size() const { return n_; }

 private:
  struct Key {
    trace::ProcessId process;
    int64_t correlation = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const noexcept { return Hash(key.process, key.correlation); }
  };

  uint32_t& WithoutCall(uint32_t row) {
    const Key key{activities_.process[row], activities_.correlation[row]};
    return of_correlation_.try_emplace(key, kNone).first.value();
  }

  const trace::Activities& activities_;
  const std::vector<trace::CallId>& launch_;
  std::vector<uint32_t> of_call_;
  tsl::robin_map<Key, uint32_t, KeyHash> of_correlation_;
  uint32_t n_ = 0;
};

/// Makes the calls of one replay after the other.
class CallMaker {
 public:
  explicit CallMaker(Attribution& attribution)
      : tree_(attribution.modules),
        call_of_(tree_.module_of_scope.size()),
        made_in_(tree_.module_of_scope.size(), 0) {}

  void BeginReplay() { ++replay_; }

  trace::ScopeId CallFor(trace::ScopeId captured) {
    new_.clear();
    trace::ScopeId around;
    for (trace::ScopeId at = captured; at.valid() && new_.size() < kMaxModuleLevels;
         at = tree_.parent_of_scope[at.index()]) {
      if (made_in_[at.index()] == replay_) {
        around = call_of_[at.index()];
        break;
      }
      new_.push_back(at);
    }
    for (size_t i = new_.size(); i-- > 0;) {
      around = AddCall(new_[i], around);
      call_of_[new_[i].index()] = around;
      made_in_[new_[i].index()] = replay_;
    }
    return around;
  }

 private:
  trace::ScopeId AddCall(trace::ScopeId captured, trace::ScopeId around) {
    const trace::ScopeId call(tree_.module_of_scope.size());
    const ModuleId module = tree_.module_of_scope[captured.index()];
    tree_.module_of_scope.push_back(module);
    tree_.parent_of_scope.push_back(around);
    tree_.depth_of_scope.push_back(around.valid() ? tree_.depth_of_scope[around.index()] + 1 : 1);
    ++tree_.modules[module.index()].calls;
    return call;
  }

  ModuleTree& tree_;
  std::vector<trace::ScopeId> call_of_;  // by captured scope, in the replay of `made_in_`
  std::vector<uint32_t> made_in_;        // by captured scope
  std::vector<trace::ScopeId> new_;
  uint32_t replay_ = 0;
};

/// Tells which launches are of one graph and how many of them hold which nodes. Launches that share
/// a node are of one graph, also those that only others between them join: which these are is known
/// once all launches are.
class NodeSets {
 public:
  explicit NodeSets(const trace::Activities& activities) : activities_(activities) {}

  void Add(std::span<const uint32_t> rows) {
    Launch launch{rows.size(), NumberOf(KeyOf(rows.front()))};
    for (const uint32_t row : rows) {
      const uint64_t key = KeyOf(row);
      launch.nodes += key;  // whatever their order
      Join(launch.first_node, NumberOf(key));
    }
    launches_.push_back(launch);
  }

  int64_t Differing() {
    tsl::robin_map<uint64_t, int64_t> n_of;
    std::vector<int64_t> most(parent_.size(), 0);  // by graph: launches of its commonest set
    for (const Launch& launch : launches_) {
      const uint32_t graph = GraphOf(launch.first_node);
      const int64_t n = ++n_of[base::MixIn(launch.nodes, graph)];
      most[graph] = std::max(most[graph], n);
    }
    return std::accumulate(most.begin(), most.end(), static_cast<int64_t>(launches_.size()),
                           std::minus<>());
  }

 private:
  struct Launch {
    uint64_t nodes = 0;  ///< of its set of nodes
    uint32_t first_node = 0;
  };

  uint64_t KeyOf(uint32_t row) const {
    return Hash(activities_.process[row], activities_.graph_node[row]);
  }

  uint32_t NumberOf(uint64_t key) {
    const auto [at, is_new] = number_of_.try_emplace(key, static_cast<uint32_t>(number_of_.size()));
    if (is_new) parent_.push_back(at->second);
    return at->second;
  }

  /// The node that stands for the graph of this one.
  uint32_t GraphOf(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  void Join(uint32_t a, uint32_t b) {
    a = GraphOf(a);
    b = GraphOf(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  const trace::Activities& activities_;
  tsl::robin_map<uint64_t, uint32_t> number_of_;  // of nodes; keys are hashes already
  std::vector<uint32_t> parent_;                  // by node: one of its graph, at last GraphOf
  std::vector<Launch> launches_;
};

}  // namespace

GraphReplays::GraphReplays(const trace::Trace& trace, const std::vector<trace::CallId>& launch) {
  const std::vector<int64_t>& nodes = trace.activities.graph_node;
  if (nodes.empty()) return;
  ReplayNumbers numbers(trace, launch);
  std::vector<uint32_t> replay_of;
  for (uint32_t row = 0; row < nodes.size(); ++row) {
    if (nodes[row] == trace::kNoGraphNode) continue;
    rows_.push_back(row);
    replay_of.push_back(numbers.Of(row));
  }
  begin_.assign(numbers.size() + 1, 0);
  for (const uint32_t replay : replay_of) ++begin_[replay + 1];
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  std::vector<uint32_t> grouped(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) grouped[next[replay_of[i]]++] = rows_[i];
  rows_ = std::move(grouped);
}

void AddReplayedCalls(const GraphReplays& replays, Attribution& attribution) {
  CallMaker calls(attribution);
  for (size_t replay = 0; replay < replays.size(); ++replay) {
    calls.BeginReplay();
    for (const uint32_t row : replays.rows(replay)) {
      if (attribution.module_evidence[row] != Evidence::kGraphNode) continue;
      trace::ScopeId& scope = attribution.scope[row];
      scope = calls.CallFor(scope);
    }
  }
}

int64_t CountDifferingReplays(const trace::Trace& trace, const GraphReplays& replays) {
  NodeSets sets(trace.activities);
  for (size_t replay = 0; replay < replays.size(); ++replay) sets.Add(replays.rows(replay));
  return sets.Differing();
}

}  // namespace layerscope::attribution
