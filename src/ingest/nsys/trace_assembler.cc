#include "src/ingest/nsys/trace_assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "src/ingest/nsys/dictionary_tables.h"
#include "src/ingest/nsys/labels.h"
#include "src/ingest/nsys/string_table.h"
#include "src/ingest/nsys/time_order.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;

/// The final ids of names: those of StringIds' rows are known now, the others stay.
void ApplyNames(const TableStrings& strings, std::vector<trace::StringId>& names) {
  for (trace::StringId& name : names) {
    if (RowDictionary::IsFromTable(name)) name = strings.names[RowDictionary::Slot(name)];
  }
}

void TakeActivities(trace::Activities& from, const TableStrings& strings, trace::Activities& to) {
  const std::vector<uint32_t> order = TimeOrder(from.start_ns);
  const bool has_nodes = !from.graph_node.empty();
  if (has_nodes) from.graph_node.resize(from.size(), trace::kNoGraphNode);
  Reorder(order, from.start_ns);
  Reorder(order, from.dur_ns);
  Reorder(order, from.name);
  Reorder(order, from.kind);
  Reorder(order, from.process);
  Reorder(order, from.stream);
  Reorder(order, from.correlation);
  Reorder(order, from.args);
  if (has_nodes) Reorder(order, from.graph_node);
  while (!from.graph_node.empty() && from.graph_node.back() == trace::kNoGraphNode) {
    from.graph_node.pop_back();
  }
  ApplyNames(strings, from.name);
  to = std::move(from);
}

void TakeCalls(trace::Calls& from, const TableStrings& strings, trace::Calls& to) {
  const std::vector<uint32_t> order = TimeOrder(from.start_ns);
  Reorder(order, from.start_ns);
  Reorder(order, from.dur_ns);
  Reorder(order, from.name);
  Reorder(order, from.thread);
  Reorder(order, from.correlation);
  ApplyNames(strings, from.name);
  to = std::move(from);
}

/// What a row of NVTX_EVENTS is, once registered strings are known.
std::optional<NvtxRange> RangeOf(const NvtxRows& rows, size_t row, const TableStrings& strings) {
  const NvtxRowKind kind = rows.kind[row];
  if (kind != NvtxRowKind::kByText && kind != NvtxRowKind::kPlainByText) {
    return NvtxRange{kind, rows.name[row], rows.args[row]};
  }
  const size_t slot = RowDictionary::Slot(rows.name[row]);
  std::optional<NvtxRange> range = strings.ranges[slot];
  // What a lost text said may be anything: it names no module.
  const bool is_plain = kind == NvtxRowKind::kPlainByText && strings.is_unknown[slot] == 0;
  if (range && is_plain && range->kind == NvtxRowKind::kAnnotation) {
    range->kind = NvtxRowKind::kPlainRange;
  }
  return range;
}

struct HostRow {
  int64_t start_ns;
  int64_t dur_ns;
  trace::ThreadId thread;
  NvtxRange range;
};

template <typename Rows>
void AppendSpan(const HostRow& row, Rows& rows) {
  rows.start_ns.push_back(row.start_ns);
  rows.dur_ns.push_back(row.dur_ns);
  rows.name.push_back(row.range.name);
  rows.thread.push_back(row.thread);
}

void AppendHostRow(const HostRow& row, trace::Trace& trace) {
  if (row.range.kind == NvtxRowKind::kModule) {
    AppendSpan(row, trace.scopes);
    trace.scopes.is_path.push_back(1);
    return;
  }
  if (row.range.kind == NvtxRowKind::kOp) {
    AppendSpan(row, trace.ops);
    trace.ops.external_id.push_back(trace::kNoExternalId);
    trace.ops.args.push_back(row.range.args);
    return;
  }
  trace::Annotations& rows = trace.annotations;
  AppendSpan(row, rows);
  rows.is_gpu.push_back(0);
  rows.is_op.push_back(0);
  if (row.range.kind != NvtxRowKind::kPlainRange) return;
  rows.is_plain_range.resize(rows.size() - 1);
  rows.is_plain_range.push_back(1);
}

/// `end_ns`: where ranges that were never closed end.
void TakeNvtx(const NvtxRows& from, const TableStrings& strings, int64_t end_ns,
              trace::Trace& trace) {
  const std::vector<uint32_t> order = TimeOrder(from.start_ns);
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t row = order.empty() ? i : order[i];
    const std::optional<NvtxRange> range = RangeOf(from, row, strings);
    if (!range) continue;
    int64_t dur_ns = from.dur_ns[row];
    if (dur_ns == NvtxRows::kOpenNs) dur_ns = end_ns - from.start_ns[row];
    if (dur_ns > trace::kMaxDurationNs) {
      trace.ledger.AddSample(LedgerCode::time_out_of_range, -1,
                             fmt::format("start {}, never closed", from.start_ns[row]));
      continue;
    }
    AppendHostRow({from.start_ns[row], dur_ns, from.thread[row], *range}, trace);
  }
}

/// When each node first shows.
std::map<std::pair<trace::ProcessId, int64_t>, int64_t> FirstEvents(const trace::GraphNodes& rows) {
  std::map<std::pair<trace::ProcessId, int64_t>, int64_t> first_ns;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto [at, is_new] =
        first_ns.try_emplace({rows.process[row], rows.node[row]}, rows.start_ns[row]);
    if (!is_new) at->second = std::min(at->second, rows.start_ns[row]);
  }
  return first_ns;
}

/// Events of nodes other than their making tell nothing. Exports that name none of them so are
/// taken whole, but for what happened to a node after it first shows: it was made before it was
/// destroyed.
void TakeGraphNodes(const trace::GraphNodes& from, const std::vector<trace::StringId>& events,
                    const TableStrings& strings, trace::GraphNodes& to) {
  const auto is_creation = [&strings](trace::StringId event) {
    return event.valid() && strings.is_node_creation[RowDictionary::Slot(event)] != 0;
  };
  const bool take_all = std::none_of(events.begin(), events.end(), is_creation);
  std::map<std::pair<trace::ProcessId, int64_t>, int64_t> first_ns;
  if (take_all) first_ns = FirstEvents(from);
  for (size_t row = 0; row < from.size(); ++row) {
    const bool taken = take_all
                           ? first_ns.at({from.process[row], from.node[row]}) == from.start_ns[row]
                           : is_creation(events[row]);
    if (!taken) continue;
    to.process.push_back(from.process[row]);
    to.node.push_back(from.node[row]);
    to.original.push_back(from.original[row]);
    to.thread.push_back(from.thread[row]);
    to.start_ns.push_back(from.start_ns[row]);
  }
}

void AddCounts(const BatchMerger& merger, trace::Trace& trace) {
  trace.counts.n_events = merger.n_rows();
  trace.counts.by_cat = merger.rows_by_table();
  const auto has_rows = [&merger](std::string_view table) {
    const auto found = merger.rows_by_table().find(std::string(table));
    return found != merger.rows_by_table().end() && found->second > 0;
  };
  // What a damaged file lacks may have been recorded: how to record it is no advice.
  if (trace.ledger.count(LedgerCode::damaged_database) > 0) return;
  const bool has_ranges = trace.scopes.size() + trace.ops.size() + trace.annotations.size() > 0;
  // Graphs recorded as a whole are CUDA work too; what they lack is said where they count.
  if (!has_rows(kKernels) && !has_rows(kGraphTraces)) trace.ledger.Add(LedgerCode::no_kernels);
  if (!has_rows(kRuntimeCalls)) trace.ledger.Add(LedgerCode::no_calls);
  if (!has_ranges) trace.ledger.Add(LedgerCode::no_nvtx);
}

}  // namespace

base::Result<trace::Trace> AssembleTrace(const Database& database, const Schema& schema,
                                         BatchMerger& merger) {
  Batch& all = merger.all();
  trace::Trace trace;
  trace.format = trace::TraceFormat::kNsys;
  trace.ledger = std::move(all.ledger);
  AddHosts(all.dictionary, trace);
  CudaDevices cuda;
  trace::Ledger counted_later;  // ReadGpuNames reads the table too
  Step end = cuda.Read(database, schema, PidsOf(trace), counted_later);
  if (end != Step::kDone) return ErrorOf(end);
  AddStreams(all.dictionary, cuda, trace);
  Labels labels;
  end = labels.Read(database, schema, all.dictionary, trace);
  if (end != Step::kDone) return ErrorOf(end);
  TableStrings strings;
  end = ReadTableStrings(database, schema, all.dictionary, trace.ledger, strings);
  if (end != Step::kDone) return ErrorOf(end);
  for (size_t i = 0; i < trace.threads.size(); ++i) {
    const trace::StringId name = labels.thread_names()[i];
    if (name.valid()) trace.threads[i].name = strings.names[RowDictionary::Slot(name)];
  }
  TakeActivities(all.activities, strings, trace.activities);
  TakeCalls(all.calls, strings, trace.calls);
  TakeNvtx(all.nvtx, strings, all.bounds.max_end_ns, trace);
  all.nvtx = {};
  TakeGraphNodes(all.graph_nodes, all.graph_node_events, strings, trace.graph_nodes);
  AddArgs(all.dictionary, trace);
  trace.strings = all.dictionary.TakeTexts();
  trace::SetZero(all.bounds, trace);
  AddCounts(merger, trace);
  return trace;
}

}  // namespace layerscope::ingest::nsys
