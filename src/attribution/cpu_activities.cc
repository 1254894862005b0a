#include "src/attribution/cpu_activities.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

#include "src/attribution/lane_order.h"
#include "src/attribution/nested_sweep.h"

namespace layerscope::attribution {
namespace {

struct Row {
  int64_t start_ns;
  int64_t end_ns;
  uint32_t op;
};

/// Sorted times at which scopes of one thread open or close; a scope without length does neither.
void ScopeEdges(std::span<const uint32_t> scopes, const Intervals& intervals,
                std::vector<int64_t>& edges) {
  edges.clear();
  for (const uint32_t scope : scopes) {
    const int64_t start = intervals.Start(scope);
    const int64_t end = intervals.End(scope);
    if (end <= start) continue;
    edges.push_back(start);
    edges.push_back(end);
  }
  std::sort(edges.begin(), edges.end());
}

/// Appends the rows of one thread. `has_time` is by op.
void AppendThread(std::span<const uint32_t> ops, const Intervals& intervals,
                  const std::vector<int64_t>& edges, std::vector<uint8_t>& has_time,
                  std::vector<Row>& rows) {
  std::vector<uint32_t> stack;
  size_t edge = 0;
  const auto cut = [&](uint32_t op, int64_t from, int64_t to) {
    has_time[op] = 1;
    while (edge < edges.size() && edges[edge] <= from) ++edge;
    for (; edge < edges.size() && edges[edge] < to; ++edge) {
      if (edges[edge] == from) continue;
      rows.push_back({from, edges[edge], op});
      from = edges[edge];
    }
    rows.push_back({from, to, op});
  };
  SweepNested(
      ops, intervals, stack, [](uint32_t, uint32_t) {}, cut);
  for (const uint32_t op : ops) {
    if (has_time[op] == 0) rows.push_back({intervals.Start(op), intervals.Start(op), op});
  }
}

CpuActivities ToColumns(const std::vector<Row>& rows, const trace::Trace& trace) {
  CpuActivities out;
  trace::Activities& a = out.rows;
  const size_t n = rows.size();
  a.kind.assign(n, trace::ActivityKind::kCpu);
  a.stream.resize(n);
  a.correlation.assign(n, trace::kNoCorrelation);
  for (const Row& row : rows) {
    const trace::ThreadId thread = trace.ops.thread[row.op];
    a.start_ns.push_back(row.start_ns);
    a.dur_ns.push_back(row.end_ns - row.start_ns);
    a.name.push_back(trace.ops.name[row.op]);
    a.process.push_back(trace.threads[thread.index()].process);
    a.external_id.push_back(trace.ops.external_id[row.op]);
    a.args.push_back(trace.ops.args[row.op]);
    out.op.emplace_back(row.op);
    out.thread.push_back(thread);
  }
  return out;
}

}  // namespace

CpuActivities BuildCpuActivities(const trace::Trace& trace) {
  const Intervals ops{trace.ops.start_ns, trace.ops.dur_ns};
  const Intervals scopes{trace.scopes.start_ns, trace.scopes.dur_ns};
  const size_t n_threads = trace.threads.size();
  const LaneOrder op_order =
      LaneOrder::Build(std::span<const trace::ThreadId>(trace.ops.thread), n_threads, ops);
  const LaneOrder scope_order =
      LaneOrder::Build(std::span<const trace::ThreadId>(trace.scopes.thread), n_threads, scopes);
  std::vector<Row> rows;
  std::vector<int64_t> edges;
  std::vector<uint8_t> has_time(ops.size(), 0);
  for (size_t thread = 0; thread < n_threads; ++thread) {
    if (op_order.rows(thread).empty()) continue;
    ScopeEdges(scope_order.rows(thread), scopes, edges);
    AppendThread(op_order.rows(thread), ops, edges, has_time, rows);
  }
  const auto key = [&](const Row& row) {
    return std::tuple(row.start_ns, trace.ops.thread[row.op], row.end_ns, row.op);
  };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return ToColumns(rows, trace);
}

}  // namespace layerscope::attribution
