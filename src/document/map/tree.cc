#include "src/document/map/tree.h"

#include <algorithm>
#include <tuple>

#include "src/base/check.h"
#include "src/base/checked_sum.h"
#include "src/document/map/ops.h"

namespace layerscope::document {
namespace {

using attribution::ModuleId;
using Kind = ExecutionNode::Kind;
using Frame = OpMerger::Frame;

class TreeBuilder {
 public:
  TreeBuilder(const ExecutionRank& rank, const Forwards& forwards)
      : rank_(rank), trace_(rank.trace()), attr_(rank.attribution()), forwards_(forwards) {}

  ExecutionTree Build() {
    AddModules();
    CountScopes();
    nesting_ = NestOps(trace_);
    AddOps();
    PlaceRows();
    SumUpwards();
    return std::move(tree_);
  }

 private:
  std::vector<ExecutionNode>& nodes() { return tree_.nodes; }

  void AddModules() {
    const std::vector<attribution::Module>& modules = attr_.modules.modules;
    node_of_module_.assign(modules.size(), ExecutionNode::kNone);
    for (uint32_t i = 0; i < modules.size(); ++i) {
      if (!rank_.Holds(modules[i].process)) continue;
      const ModuleId up = modules[i].parent;
      ExecutionNode node;
      if (up.valid()) {
        node.parent = node_of_module_[up.index()];
        node.depth = nodes()[node.parent].depth + 1;
      }
      if (node.depth > kDeepestModule) {
        node_of_module_[i] = node.parent;
        continue;
      }
      node.module = ModuleId(i);
      node_of_module_[i] = static_cast<uint32_t>(nodes().size());
      nodes().push_back(node);
    }
    ExecutionNode outside;
    outside.kind = Kind::kOutside;
    tree_.before = static_cast<uint32_t>(nodes().size());
    tree_.after = tree_.before + 1;
    nodes().push_back(outside);
    nodes().push_back(outside);
  }

  uint32_t NodeOfScope(size_t scope) const {
    return node_of_module_[attr_.modules.module_of_scope[scope].index()];
  }
  /// False: the module is deeper than the document goes and stands in its ancestor's node.
  bool HasOwnNode(size_t scope, uint32_t node) const {
    return tree_.nodes[node].module == attr_.modules.module_of_scope[scope];
  }

  /// Calls and CPU time; with a selection those of the calls that hold a selected activity.
  void CountScopes() {
    const attribution::ModuleTree& tree = attr_.modules;
    std::vector<uint8_t> counted(tree.module_of_scope.size(), 0);
    for (size_t scope = 0; scope < counted.size(); ++scope) {
      const attribution::Module& module = tree.modules[tree.module_of_scope[scope].index()];
      counted[scope] = rank_.view->SelectsHost(module.process) ? 1 : 0;
    }
    for (const uint32_t row : rank_.rows) {
      for (trace::ScopeId s = attr_.scope[row]; s.valid() && counted[s.index()] == 0;
           s = tree.parent_of_scope[s.index()]) {
        counted[s.index()] = 1;
      }
    }
    for (size_t scope = 0; scope < counted.size(); ++scope) {
      if (counted[scope] == 0) continue;
      const uint32_t at = NodeOfScope(scope);
      if (at == ExecutionNode::kNone) continue;
      ++(scope < trace_.scopes.size() ? tree_.totals.scopes : tree_.totals.replayed_calls);
      if (!HasOwnNode(scope, at)) continue;
      ExecutionNode& node = nodes()[at];
      if (node.calls + node.captured_calls == 0) ++tree_.totals.modules;
      ++(tree.IsCapture(trace::ScopeId(scope)) ? node.captured_calls : node.calls);
      if (scope >= trace_.scopes.size()) continue;
      node.cpu_ns = base::AddClamped(node.cpu_ns, trace_.scopes.dur_ns[scope]);
      node.first_ns = std::min(node.first_ns, trace_.scopes.start_ns[scope]);
    }
  }

  /// 1 for ops that are shown: all, or with a selection those around a selected activity.
  std::vector<uint8_t> ShownOps() const {
    std::vector<uint8_t> shown(trace_.ops.size(), 0);
    for (size_t op = 0; op < shown.size(); ++op) {
      const trace::Thread& thread = trace_.threads[trace_.ops.thread[op].index()];
      shown[op] = rank_.view->SelectsHost(thread.process) ? 1 : 0;
    }
    for (const uint32_t row : rank_.rows) {
      const trace::OpId op = attr_.op[row];
      if (!op.valid()) continue;
      for (auto at = static_cast<uint32_t>(op.index()); at < shown.size() && shown[at] == 0;
           at = nesting_.parent[at]) {
        shown[at] = 1;
      }
    }
    return shown;
  }

  /// Ops outside every module, by the time at which they run.
  Frame OutsideFrame(int64_t t_ns) const {
    const Forwards::Place place = forwards_.At(t_ns);
    const uint64_t forward = place.index == Forwards::kNone ? 0 : uint64_t{place.index} + 1;
    return {Frame::Kind::kOutside, forward * 2 + (place.before ? 0 : 1),
            place.before ? tree_.before : tree_.after};
  }

  Frame FrameOfOp(uint32_t op) const {
    const uint32_t parent = nesting_.parent[op];
    const uint32_t scope = nesting_.scope[op];
    if (parent != OpNesting::kNone && nesting_.scope[parent] == scope &&
        node_of_op_[parent] != ExecutionNode::kNone) {
      return {Frame::Kind::kOp, parent, node_of_op_[parent]};
    }
    if (scope != OpNesting::kNone) return {Frame::Kind::kScope, scope, NodeOfScope(scope)};
    return OutsideFrame(trace_.ops.start_ns[op]);
  }

  void AddOps() {
    const std::vector<uint8_t> shown = ShownOps();
    node_of_op_.assign(trace_.ops.size(), ExecutionNode::kNone);
    for (const uint32_t op : nesting_.order) {
      if (shown[op] == 0 || !rank_.HoldsThread(trace_.ops.thread[op])) continue;
      ++tree_.totals.ops;
      const Frame frame = FrameOfOp(op);
      const uint32_t at = merger_.Add(frame, trace_.ops.name[op], {});
      node_of_op_[op] = at;
      if (at == frame.node) continue;
      ExecutionNode& node = nodes()[at];
      if (node.calls == 0) node.args = trace_.ops.args[op];
      ++node.calls;
      node.cpu_ns = base::AddClamped(node.cpu_ns, trace_.ops.dur_ns[op]);
      node.first_ns = std::min(node.first_ns, trace_.ops.start_ns[op]);
    }
  }

  void PlaceRows() {
    const trace::Activities& activities = rank_.view->activities();
    std::vector<uint32_t> order(rank_.rows.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](uint32_t i) {
      return std::tuple(activities.start_ns[rank_.rows[i]], rank_.rows[i]);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    last_of_scope_.assign(attr_.modules.module_of_scope.size(), {});
    tree_.node_of_row.assign(order.size(), ExecutionNode::kNone);
    tree_.forward_of_row.assign(order.size(), Forwards::kNone);
    for (const uint32_t i : order) {
      const uint32_t row = rank_.rows[i];
      tree_.forward_of_row[i] = forwards_.OfRow(rank_, row);
      const uint32_t at = PlaceOf(row);
      tree_.node_of_row[i] = at;
      if (at != ExecutionNode::kNone) AddRow(row, nodes()[at].own);
    }
  }

  void AddRow(uint32_t row, ExecutionSums& sums) const {
    sums.AddRow(*rank_.view, row);
    sums.activities += rank_.view->CountOf(row);
    sums.evidence_ns[static_cast<size_t>(attr_.module_evidence[row])] +=
        rank_.view->activities().dur_ns[row];
  }

  /// The op of a row, in the module of the row: a scope that opened after the op began, and a
  /// replay, may have given the row another module than its op's.
  uint32_t PlaceOf(uint32_t row) {
    const trace::ScopeId scope = attr_.scope[row];
    const trace::OpId op = attr_.op[row];
    const bool own_op = op.valid() && op.index() < trace_.ops.size();
    const uint32_t at = scope.valid() ? static_cast<uint32_t>(scope.index()) : ExecutionNode::kNone;
    if (own_op && nesting_.scope[op.index()] == at &&
        node_of_op_[op.index()] != ExecutionNode::kNone) {
      return node_of_op_[op.index()];
    }
    if (scope.valid()) {
      return NodeOfScope(at) == ExecutionNode::kNone ? NodeOfScope(at) : PlaceInScope(row, at, op);
    }
    if (!op.valid()) return ExecutionNode::kNone;
    const std::optional<int64_t> launched = rank_.LaunchTime(row);
    if (!launched) return ExecutionNode::kNone;
    const uint32_t node = merger_.Add(OutsideFrame(*launched), attr_.OpName(trace_, op), {});
    Describe(row, op, nodes()[node]);
    return node;
  }

  /// Neighbours of one op are one call of it.
  uint32_t PlaceInScope(uint32_t row, uint32_t scope, trace::OpId op) {
    Last& last = last_of_scope_[scope];
    if (op.valid() && last.op == op) return last.node;
    const trace::StringId kernel = rank_.view->activities().name[row];
    const trace::StringId name = op.valid() ? attr_.OpName(trace_, op) : trace::StringId();
    const uint32_t node =
        merger_.Add({Frame::Kind::kScope, scope, NodeOfScope(scope)}, name, kernel);
    Describe(row, op, nodes()[node]);
    last = {op, node};
    return node;
  }

  void Describe(uint32_t row, trace::OpId op, ExecutionNode& node) const {
    if (node.calls == 0 && op.valid()) node.args = attr_.OpArgs(trace_, op);
    ++node.calls;
    node.first_ns = std::min(node.first_ns, rank_.view->activities().start_ns[row]);
  }

  void SumUpwards() {
    for (ExecutionNode& node : nodes()) node.sums = node.own;
    for (size_t i = nodes().size(); i-- > 0;) {
      const ExecutionNode& node = nodes()[i];
      if (node.parent == ExecutionNode::kNone) continue;
      ExecutionNode& parent = nodes()[node.parent];
      parent.sums.Add(node.sums);
      parent.first_ns = std::min(parent.first_ns, node.first_ns);
    }
    ExecutionSums all;
    int64_t unplaced_ns = 0;
    for (const ExecutionNode& node : nodes()) {
      if (node.parent == ExecutionNode::kNone) all.Add(node.sums);
    }
    int64_t total_ns = 0;
    for (size_t i = 0; i < rank_.rows.size(); ++i) {
      const int64_t dur_ns = rank_.view->activities().dur_ns[rank_.rows[i]];
      total_ns += dur_ns;
      if (tree_.node_of_row[i] == ExecutionNode::kNone) unplaced_ns += dur_ns;
    }
    LS_CHECK(all.gpu_ns + unplaced_ns == total_ns, "the module map does not add up to the total");
  }

  struct Last {
    trace::OpId op;
    uint32_t node = ExecutionNode::kNone;
  };

  const ExecutionRank& rank_;
  const trace::Trace& trace_;
  const attribution::Attribution& attr_;
  const Forwards& forwards_;
  ExecutionTree tree_;
  OpNesting nesting_;
  OpMerger merger_{tree_.nodes};
  std::vector<uint32_t> node_of_module_;
  std::vector<uint32_t> node_of_op_;
  std::vector<Last> last_of_scope_;  ///< by ScopeId: the last op that rows brought into it
};

}  // namespace

void ExecutionSums::Add(const ExecutionSums& other) {
  gpu_ns += other.gpu_ns;
  kernel_ns += other.kernel_ns;
  kernels += other.kernels;
  activities += other.activities;
  for (size_t e = 0; e < evidence_ns.size(); ++e) evidence_ns[e] += other.evidence_ns[e];
}

ExecutionTree BuildExecutionTree(const ExecutionRank& rank, const Forwards& forwards) {
  return TreeBuilder(rank, forwards).Build();
}

}  // namespace layerscope::document
