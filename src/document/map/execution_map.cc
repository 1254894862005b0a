#include "src/document/map/execution_map.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "src/analysis/interval_union.h"
#include "src/base/checked_sum.h"
#include "src/base/hash.h"

namespace layerscope::document {
namespace {

constexpr uint32_t kNone = MapNode::kNone;
using Kind = ExecutionNode::Kind;
using Member = MapNode::Member;

/// Lays out the nodes. Recursion is bounded by kDeepestModule + kDeepestOp.
class MapLayout {
 public:
  MapLayout(const ExecutionTree& tree, const ModuleFolds& folds, bool collapse)
      : tree_(tree), folds_(folds), collapse_(collapse), ops_of_(tree.nodes.size()) {
    for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
      const ExecutionNode& node = tree.nodes[i];
      if (node.kind == Kind::kOp) ops_of_[node.parent].push_back(i);
    }
  }

  ExecutionMap Build() {
    map_.roots = AddFolds({{}}, kNone, 0, folds_.roots);
    for (size_t i = 0; i < map_.roots.size(); ++i) {
      map_.nodes[map_.roots[i]].seq = static_cast<int64_t>(i);
    }
    map_.before = AddOps({{tree_.before, 0}}, kNone, 0);
    map_.after = AddOps({{tree_.after, 0}}, kNone, 0);
    return std::move(map_);
  }

 private:
  uint32_t Add(uint32_t parent, std::vector<Member> members, uint32_t n_slots) {
    const auto id = static_cast<uint32_t>(map_.nodes.size());
    MapNode node;
    node.parent = parent;
    node.n_slots = n_slots;
    for (const Member& member : members) {
      const ExecutionNode& of = tree_.nodes[member.node];
      node.calls += of.calls;
      node.cpu_ns = base::AddClamped(node.cpu_ns, of.cpu_ns);
      node.sums.Add(of.sums);
      node.own_ns += of.own.gpu_ns;
    }
    node.members = std::move(members);
    map_.nodes.push_back(std::move(node));
    return id;
  }

  /// The r-th fold of alike modules holds what corresponds; `above` are those modules.
  std::vector<uint32_t> AddFolds(const std::vector<Member>& above, uint32_t parent,
                                 uint32_t n_slots, const std::vector<Fold>& first) {
    std::vector<uint32_t> added;
    for (size_t r = 0; r < first.size(); ++r) {
      if (!collapse_) {
        for (const uint32_t node : first[r].members) {
          added.push_back(AddModule({{node, 0}}, parent, 0));
          map_.nodes[added.back()].stretch = first[r].stretch;
        }
        continue;
      }
      std::vector<Member> members;
      size_t most = 0;
      for (const Member& module : above) {
        const Fold& fold = parent == kNone ? first[r] : folds_.folds_of[module.node][r];
        most = std::max(most, fold.members.size());
        for (const uint32_t node : fold.members) members.push_back({node, module.slot});
      }
      uint32_t slots = n_slots;
      if (slots == 0 && most > 1) {
        for (Member& member : members) member.slot = slots++;
      }
      added.push_back(AddModule(std::move(members), parent, slots));
      map_.nodes[added.back()].repeat = static_cast<uint32_t>(most);
      map_.nodes[added.back()].stretch = first[r].stretch;
    }
    if (!collapse_) {
      std::sort(added.begin(), added.end(), [this](uint32_t a, uint32_t b) {
        return map_.nodes[a].members.front().node < map_.nodes[b].members.front().node;
      });
    }
    return added;
  }

  uint32_t AddModule(std::vector<Member> members, uint32_t parent, uint32_t n_slots) {
    const uint32_t id = Add(parent, members, n_slots);
    const std::vector<Fold>& first = folds_.folds_of[members.front().node];
    std::vector<uint32_t> modules = AddFolds(members, id, n_slots, first);
    std::vector<uint32_t> ops = AddOps(members, id, n_slots);
    for (const uint32_t op : ops) map_.nodes[id].own_ns += map_.nodes[op].sums.gpu_ns;
    map_.nodes[id].modules = std::move(modules);
    map_.nodes[id].ops = std::move(ops);
    Number(id);
    return id;
  }

  /// Ops that correspond have one name and are the same occurrence of it.
  std::vector<uint32_t> AddOps(const std::vector<Member>& above, uint32_t parent,
                               uint32_t n_slots) {
    std::map<std::tuple<trace::StringId, trace::StringId, uint32_t>, size_t> index;
    std::vector<std::vector<Member>> groups;
    for (const Member& member : above) {
      for (const uint32_t op : ops_of_[member.node]) {
        const ExecutionNode& node = tree_.nodes[op];
        const auto [at, is_new] =
            index.try_emplace({node.op, node.kernel, node.occurrence}, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].push_back({op, member.slot});
      }
    }
    if (parent == kNone) SortByStart(groups);
    std::vector<uint32_t> added;
    for (std::vector<Member>& members : groups) {
      const uint32_t id = Add(parent, members, n_slots);
      std::vector<uint32_t> ops = AddOps(members, id, n_slots);
      map_.nodes[id].ops = std::move(ops);
      Number(id);
      added.push_back(id);
    }
    if (parent == kNone) {
      for (size_t i = 0; i < added.size(); ++i) {
        map_.nodes[added[i]].seq = static_cast<int64_t>(i);
      }
    }
    return added;
  }

  void SortByStart(std::vector<std::vector<Member>>& groups) const {
    std::stable_sort(groups.begin(), groups.end(), [this](const auto& a, const auto& b) {
      return tree_.nodes[a.front().node].first_ns < tree_.nodes[b.front().node].first_ns;
    });
  }

  /// When a node first starts within what is around it.
  int64_t Offset(uint32_t id) const {
    const ExecutionNode& first = tree_.nodes[map_.nodes[id].members.front().node];
    if (first.parent == kNone) return first.first_ns;
    return base::AddClamped(first.first_ns, -tree_.nodes[first.parent].first_ns);
  }

  /// Orders modules and ops below a node together.
  void Number(uint32_t id) {
    std::vector<std::pair<int64_t, uint32_t>> items;
    for (const uint32_t module : map_.nodes[id].modules) items.emplace_back(Offset(module), module);
    for (const uint32_t op : map_.nodes[id].ops) items.emplace_back(Offset(op), op);
    std::sort(items.begin(), items.end());
    for (size_t i = 0; i < items.size(); ++i) {
      map_.nodes[items[i].second].seq = static_cast<int64_t>(i);
    }
    const auto by_seq = [this](uint32_t a, uint32_t b) {
      return map_.nodes[a].seq < map_.nodes[b].seq;
    };
    std::sort(map_.nodes[id].modules.begin(), map_.nodes[id].modules.end(), by_seq);
    std::sort(map_.nodes[id].ops.begin(), map_.nodes[id].ops.end(), by_seq);
  }

  const ExecutionTree& tree_;
  const ModuleFolds& folds_;
  bool collapse_;
  std::vector<std::vector<uint32_t>> ops_of_;  ///< by execution node
  ExecutionMap map_;
};

/// What is no sum of the execution tree's: busy time, figures by forward, kernels by name.
class RowSweep {
 public:
  RowSweep(const ExecutionRank& rank, const ExecutionTree& tree, ExecutionMap& map)
      : rank_(rank), tree_(tree), map_(map), node_of_(tree.nodes.size(), kNone) {
    for (uint32_t id = 0; id < map.nodes.size(); ++id) {
      for (const Member& member : map.nodes[id].members) node_of_[member.node] = id;
    }
  }

  void Run(size_t n_forwards) {
    AddBusy();
    AddPasses(n_forwards);
    AddKernels();
  }

 private:
  int64_t DurOf(uint32_t i) const { return rank_.view->activities().dur_ns[rank_.rows[i]]; }
  int64_t Start(uint32_t i) const { return rank_.view->activities().start_ns[rank_.rows[i]]; }
  size_t Device(uint32_t i) const { return rank_.view->DeviceOf(rank_.rows[i]).index(); }
  bool IsModule(uint32_t id) const {
    return tree_.nodes[map_.nodes[id].members.front().node].kind == Kind::kModule;
  }
  uint32_t NodeOf(uint32_t i) const {
    const uint32_t at = tree_.node_of_row[i];
    return at == kNone ? kNone : node_of_[at];
  }
  /// Positions of ExecutionRank::rows in the order of `key`.
  template <typename KeyOf>
  std::vector<uint32_t> Ordered(const KeyOf& key) const {
    std::vector<uint32_t> order(rank_.rows.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    return order;
  }

  void AddBusy() {
    struct State {
      analysis::IntervalUnion busy;
      size_t device = 0;
    };
    std::vector<State> states(map_.nodes.size());
    State roots;
    int64_t roots_ns = 0;
    const auto add = [&](State& state, int64_t& busy_ns, uint32_t i) {
      if (state.device != Device(i)) busy_ns += std::exchange(state.busy, {}).busy_ns();
      state.device = Device(i);
      state.busy.Add(Start(i), DurOf(i));
    };
    for (const uint32_t i :
         Ordered([this](uint32_t a) { return std::tuple(Device(a), Start(a), rank_.rows[a]); })) {
      uint32_t top = kNone;
      for (uint32_t at = NodeOf(i); at != kNone; at = map_.nodes[at].parent) {
        add(states[at], map_.nodes[at].busy_ns, i);
        top = at;
      }
      if (top != kNone && IsModule(top)) add(roots, roots_ns, i);
    }
    for (size_t i = 0; i < states.size(); ++i) map_.nodes[i].busy_ns += states[i].busy.busy_ns();
    map_.roots_busy_ns = roots_ns + roots.busy.busy_ns();
  }

  static void Close(PassFigures& figures, int64_t ns) {
    figures.min_ns = figures.n == 0 ? ns : std::min(figures.min_ns, ns);
    figures.max_ns = figures.n == 0 ? ns : std::max(figures.max_ns, ns);
    figures.sum_ns += ns;
    ++figures.n;
  }

  void AddPasses(size_t n_forwards) {
    struct State {
      uint32_t pass = Forwards::kNone;
      int64_t ns = 0;
    };
    map_.passes.resize(n_forwards);
    std::vector<State> states(map_.nodes.size());
    for (const uint32_t i :
         Ordered([this](uint32_t a) { return std::pair(tree_.forward_of_row[a], a); })) {
      const uint32_t pass = tree_.forward_of_row[i];
      RowSums& sums = pass == Forwards::kNone ? map_.outside_passes : map_.passes[pass];
      sums.AddRow(*rank_.view, rank_.rows[i]);
      if (pass == Forwards::kNone) continue;
      for (uint32_t at = NodeOf(i); at != kNone; at = map_.nodes[at].parent) {
        State& state = states[at];
        if (state.pass != pass && state.pass != Forwards::kNone) {
          Close(map_.nodes[at].passes, std::exchange(state.ns, 0));
        }
        state.pass = pass;
        state.ns += DurOf(i);
      }
    }
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i].pass != Forwards::kNone) Close(map_.nodes[i].passes, states[i].ns);
    }
  }

  void AddKernels() {
    if (rank_.view->cpu_only()) return;
    tsl::robin_map<uint64_t, uint32_t, base::MixHash> index;
    for (uint32_t i = 0; i < rank_.rows.size(); ++i) {
      const uint32_t at = NodeOf(i);
      if (at == kNone) continue;
      const trace::StringId name = rank_.view->activities().name[rank_.rows[i]];
      std::vector<KernelUse>& kernels = map_.nodes[at].kernels;
      const auto [use, is_new] = index.try_emplace(uint64_t{at} << 32U | name.index(),
                                                   static_cast<uint32_t>(kernels.size()));
      if (is_new) kernels.push_back({name, 0, 0, rank_.rows[i]});
      KernelUse& kernel = kernels[use->second];
      ++kernel.n;
      kernel.gpu_ns += DurOf(i);
      if (DurOf(i) > rank_.view->activities().dur_ns[kernel.longest])
        kernel.longest = rank_.rows[i];
    }
    for (size_t i = map_.nodes.size(); i-- > 0;) {
      MapNode& node = map_.nodes[i];
      std::stable_sort(node.kernels.begin(), node.kernels.end(),
                       [](const KernelUse& a, const KernelUse& b) { return a.gpu_ns > b.gpu_ns; });
      if (!node.kernels.empty()) Offer(node, node.kernels.front());
      if (node.parent != kNone && node.largest_kernel) {
        Offer(map_.nodes[node.parent], *node.largest_kernel);
      }
    }
  }

  static void Offer(MapNode& node, const KernelUse& kernel) {
    if (!node.largest_kernel || node.largest_kernel->gpu_ns < kernel.gpu_ns) {
      node.largest_kernel = kernel;
    }
  }

  const ExecutionRank& rank_;
  const ExecutionTree& tree_;
  ExecutionMap& map_;
  std::vector<uint32_t> node_of_;  ///< by execution node
};

}  // namespace

ExecutionMap BuildExecutionMap(const ExecutionRank& rank, const ExecutionTree& tree,
                               const ModuleFolds& folds, size_t n_forwards, bool collapse) {
  ExecutionMap map = MapLayout(tree, folds, collapse).Build();
  RowSweep(rank, tree, map).Run(n_forwards);
  return map;
}

}  // namespace layerscope::document
