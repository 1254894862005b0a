#include "src/ingest/nsys/activity_tables.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "src/ingest/nsys/copy_name.h"
#include "src/ingest/nsys/span.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::ActivityKind;
using trace::LedgerCode;

// The first columns of all four tables.
enum : int { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kNode, kOwn };

#define LAYERSCOPE_ACTIVITY_COLUMNS                                                      \
  {"start", true}, {"end", true}, {"deviceId", true}, {"contextId"}, {"streamId", true}, \
      {"correlationId"}, {"globalPid"}, {                                                \
    "graphNodeId"                                                                        \
  }

constexpr std::array<Column, kOwn + 7> kKernelColumns = {
    {LAYERSCOPE_ACTIVITY_COLUMNS,
     {"demangledName|mangledName|shortName", true},
     {"gridX"},
     {"gridY"},
     {"gridZ"},
     {"blockX"},
     {"blockY"},
     {"blockZ"}}};
constexpr std::array<Column, kOwn + 3> kMemcpyColumns = {
    {LAYERSCOPE_ACTIVITY_COLUMNS, {"copyKind"}, {"srcKind"}, {"dstKind"}}};
constexpr std::array<Column, kOwn + 1> kMemsetColumns = {
    {LAYERSCOPE_ACTIVITY_COLUMNS, {"memKind"}}};
constexpr std::array<Column, kOwn + 1> kGraphColumns = {
    {LAYERSCOPE_ACTIVITY_COLUMNS, {"graphExecId"}}};
#undef LAYERSCOPE_ACTIVITY_COLUMNS

constexpr int64_t kNotRecorded = -1;

/// What every activity has.
struct Common {
  Span span;
  std::optional<int64_t> global_pid;
  int64_t device = 0;
  int64_t context = 0;
  int64_t stream = 0;
  int64_t correlation = 0;
  int64_t node = 0;
};

/// Takes the columns that all tables have. The row's own columns must be taken before, so that a
/// bad value in them leaves the row out.
bool TakeCommon(Row& row, Batch& batch, Common& common) {
  const int64_t start_ns = row.Needed(kStart);
  const int64_t end_ns = row.Needed(kEnd);
  common.device = row.Needed(kDevice);
  common.context = row.IntegerOr(kContext, 0);
  common.stream = row.Needed(kStream);
  common.correlation = row.IntegerOr(kCorrelation, trace::kNoCorrelation);
  common.global_pid = row.Integer(kProcess);
  common.node = row.IntegerOr(kNode, 0);
  return TakeSpan(row, start_ns, end_ns, batch, common.span);
}

void Append(const Common& common, ActivityKind kind, trace::StringId name, const ArgsKey& args,
            Batch& batch) {
  if (!common.global_pid) batch.ledger.Add(LedgerCode::unknown_process);
  const trace::ProcessId process = batch.dictionary.Process(common.global_pid.value_or(0));
  trace::Activities& rows = batch.activities;
  rows.start_ns.push_back(common.span.start_ns);
  rows.dur_ns.push_back(common.span.dur_ns);
  rows.name.push_back(name);
  rows.kind.push_back(kind);
  rows.process.push_back(process);
  rows.stream.push_back(
      batch.dictionary.Stream({process, common.device, common.context, common.stream}));
  rows.correlation.push_back(common.correlation > 0 ? common.correlation : trace::kNoCorrelation);
  rows.external_id.push_back(trace::kNoExternalId);
  rows.args.push_back(batch.dictionary.Args(args));
  if (common.node <= 0) return;
  rows.graph_node.resize(rows.size() - 1, trace::kNoGraphNode);
  rows.graph_node.push_back(common.node);
}

void ReadKernel(Row& row, Batch& batch) {
  const int64_t name = row.Needed(kOwn);
  ArgsKey args;
  for (int i = 0; i < 3; ++i) {
    args.grid[static_cast<size_t>(i)] = row.IntegerOr(kOwn + 1 + i, ArgsKey::kAbsent);
    args.block[static_cast<size_t>(i)] = row.IntegerOr(kOwn + 4 + i, ArgsKey::kAbsent);
  }
  Common common;
  if (!TakeCommon(row, batch, common)) return;
  Append(common, ActivityKind::kKernel, batch.dictionary.TableString(name, kAsName), args, batch);
}

void ReadMemcpy(Row& row, Batch& batch) {
  const int64_t kind = row.IntegerOr(kOwn, kNotRecorded);
  const int64_t source = row.IntegerOr(kOwn + 1, kNotRecorded);
  const int64_t destination = row.IntegerOr(kOwn + 2, kNotRecorded);
  Common common;
  if (!TakeCommon(row, batch, common)) return;
  const trace::StringId name = batch.dictionary.Text(MemcpyName(kind, source, destination));
  Append(common, ActivityKind::kMemcpy, name, {}, batch);
}

void ReadMemset(Row& row, Batch& batch) {
  const int64_t memory = row.IntegerOr(kOwn, kNotRecorded);
  Common common;
  if (!TakeCommon(row, batch, common)) return;
  Append(common, ActivityKind::kMemset, batch.dictionary.Text(MemsetName(memory)), {}, batch);
}

void ReadGraph(Row& row, Batch& batch) {
  const std::optional<int64_t> id = row.Integer(kOwn);
  Common common;
  if (!TakeCommon(row, batch, common)) return;
  const std::string name = id ? fmt::format("[graph] {}", *id) : "[graph]";
  Append(common, ActivityKind::kGraph, batch.dictionary.Text(name), {}, batch);
}

}  // namespace

TableReader KernelReader() {
  return {kKernels, kKernelColumns, ReadKernel, true};
}
TableReader MemcpyReader() {
  return {kMemcpys, kMemcpyColumns, ReadMemcpy, true};
}
TableReader MemsetReader() {
  return {kMemsets, kMemsetColumns, ReadMemset, true};
}
TableReader GraphTraceReader() {
  return {kGraphTraces, kGraphColumns, ReadGraph, true};
}

}  // namespace layerscope::ingest::nsys
