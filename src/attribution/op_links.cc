#include "src/attribution/op_links.h"

#include <algorithm>
#include <utility>

namespace layerscope::attribution {
namespace {

Intervals OpIntervals(const trace::Trace& trace) {
  return {trace.ops.start_ns, trace.ops.dur_ns};
}

}  // namespace

OpLinks::OpLinks(const trace::Trace& trace) : trace_(trace) {
  const trace::Ops& ops = trace.ops;
  std::vector<uint32_t> rows;
  rows.reserve(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto row = static_cast<uint32_t>(i);
    if (ops.external_id[i] != trace::kNoExternalId) rows.push_back(row);
    several_processes_ = several_processes_ || ProcessOf(row) != ProcessOf(0);
  }
  by_external_id_ = KeyIndex(ops.external_id, rows);
  if (!several_processes_) return;
  in_processes_ = by_external_id_;
  in_processes_.ReorderGroups([&](std::span<uint32_t> group) {
    std::sort(group.begin(), group.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(ProcessOf(a), a) < std::pair(ProcessOf(b), b);
    });
  });
}

trace::ProcessId OpLinks::ProcessOf(uint32_t op) const {
  return trace_.threads[trace_.ops.thread[op].index()].process;
}

trace::OpId OpLinks::ByExternalId(int64_t external_id, trace::ProcessId host) const {
  if (external_id == trace::kNoExternalId) return {};
  const bool any_process = !several_processes_ || !host.valid();
  const std::span<const uint32_t> ops =
      any_process ? by_external_id_.Find(external_id) : in_processes_.Find(external_id);
  if (ops.empty()) return {};
  if (any_process) return trace::OpId(ops.back());
  const auto after = std::partition_point(ops.begin(), ops.end(),
                                          [&](uint32_t op) { return ProcessOf(op) <= host; });
  const bool found = after != ops.begin() && ProcessOf(*(after - 1)) == host;
  return found ? trace::OpId(*(after - 1)) : trace::OpId();
}

trace::OpId OpLinks::At(trace::ThreadId thread, int64_t t_ns) {
  if (!has_innermost_) {
    const LaneOrder order = LaneOrder::Build(std::span<const trace::ThreadId>(trace_.ops.thread),
                                             trace_.threads.size(), OpIntervals(trace_));
    innermost_ = InnermostIndex(order, OpIntervals(trace_));
    has_innermost_ = true;
  }
  const uint32_t op = innermost_.Find(thread.index(), t_ns);
  return op == kNoRow ? trace::OpId() : trace::OpId(op);
}

trace::OpId OpLinks::Find(size_t activity, trace::CallId launch, trace::ProcessId host) {
  trace::OpId op = ByExternalId(trace_.activities.external_id[activity], host);
  if (op.valid() || !launch.valid()) return op;
  const size_t call = launch.index();
  op = ByExternalId(trace_.calls.external_id[call], host);
  return op.valid() ? op : At(trace_.calls.thread[call], trace_.calls.start_ns[call]);
}

}  // namespace layerscope::attribution
