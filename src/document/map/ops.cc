#include "src/document/map/ops.h"

#include <algorithm>
#include <span>

#include "src/attribution/innermost_index.h"
#include "src/attribution/nested_sweep.h"

namespace layerscope::document {

using attribution::InnermostIndex;
using attribution::Intervals;
using attribution::LaneOrder;

OpNesting NestOps(const trace::Trace& trace) {
  OpNesting nesting;
  const size_t n = trace.ops.size();
  nesting.parent.assign(n, OpNesting::kNone);
  nesting.scope.assign(n, OpNesting::kNone);
  nesting.order.reserve(n);
  const Intervals scopes{trace.scopes.start_ns, trace.scopes.dur_ns};
  InnermostIndex scope_at(LaneOrder::Build(std::span<const trace::ThreadId>(trace.scopes.thread),
                                           trace.threads.size(), scopes),
                          scopes);
  const Intervals ops{trace.ops.start_ns, trace.ops.dur_ns};
  const LaneOrder order = LaneOrder::Build(std::span<const trace::ThreadId>(trace.ops.thread),
                                           trace.threads.size(), ops);
  std::vector<uint32_t> stack;
  for (size_t lane = 0; lane < order.n_lanes(); ++lane) {
    attribution::SweepNested(
        order.rows(lane), ops, stack,
        [&](uint32_t op, uint32_t parent) {
          nesting.order.push_back(op);
          nesting.parent[op] = parent;
          nesting.scope[op] = scope_at.Find(lane, ops.Start(op));
        },
        [](uint32_t, int64_t, int64_t) {});
  }
  return nesting;
}

uint32_t OpMerger::Add(const Frame& frame, trace::StringId op, trace::StringId kernel) {
  constexpr uint64_t kIsKernel = uint64_t{1} << 40;
  constexpr int kKindShift = 60;
  constexpr int kOccurrenceShift = 41;
  const uint64_t name = op.valid() ? op.index() : (kernel.index() | kIsKernel);
  const uint64_t call = (static_cast<uint64_t>(frame.kind) + 1) << kKindShift | frame.call;
  const uint32_t occurrence = std::min(count_[{call, name}]++, kMostOccurrences - 1);
  if (nodes_[frame.node].kind == ExecutionNode::Kind::kOp &&
      nodes_[frame.node].depth >= kDeepestOp) {
    return frame.node;
  }
  const Key key{frame.node, name | uint64_t{occurrence} << kOccurrenceShift};
  const auto [at, is_new] = node_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (is_new) {
    ExecutionNode node;
    node.parent = frame.node;
    node.kind = ExecutionNode::Kind::kOp;
    const ExecutionNode& around = nodes_[frame.node];
    node.depth = around.kind == ExecutionNode::Kind::kOp ? around.depth + 1 : 1;
    node.op = op;
    node.kernel = op.valid() ? trace::StringId() : kernel;
    node.occurrence = occurrence;
    nodes_.push_back(node);
  }
  return at->second;
}

}  // namespace layerscope::document
