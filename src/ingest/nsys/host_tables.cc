#include "src/ingest/nsys/host_tables.h"

#include <array>
#include <optional>
#include <string>

#include "src/ingest/nsys/span.h"
#include "src/ingest/nsys/valid_text.h"

namespace layerscope::ingest::nsys {
namespace {

constexpr std::array<Column, 6> kRuntimeColumns = {{{"start", true},
                                                    {"end", true},
                                                    {"globalTid", true},
                                                    {"correlationId"},
                                                    {"nameId", true},
                                                    {"eventClass"}}};

/// ENUM_NSYS_EVENT_CLASS: the call stack of a call (CUDA backtrace, and its start and finish). It
/// stands in the table of calls with the call's correlation, time and name, and is none itself.
bool IsBacktrace(int64_t event_class) {
  return event_class >= 67 && event_class <= 69;
}

void ReadCall(Row& row, Batch& batch) {
  enum : int { kStart, kEnd, kThread, kCorrelation, kName, kClass };
  if (IsBacktrace(row.IntegerOr(kClass, 0))) return;
  const int64_t start_ns = row.Needed(kStart);
  const int64_t end_ns = row.Needed(kEnd);
  const int64_t thread = row.Needed(kThread);
  const int64_t correlation = row.IntegerOr(kCorrelation, trace::kNoCorrelation);
  const int64_t name = row.Needed(kName);
  Span span;
  if (!TakeSpan(row, start_ns, end_ns, batch, span)) return;
  trace::Calls& rows = batch.calls;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(batch.dictionary.TableString(name, kAsName));
  rows.thread.push_back(batch.dictionary.Thread(thread));
  rows.correlation.push_back(correlation > 0 ? correlation : trace::kNoCorrelation);
  rows.external_id.push_back(trace::kNoExternalId);
}

constexpr std::array<Column, 7> kNvtxColumns = {{{"start", true},
                                                 {"end", true},
                                                 {"eventType", true},
                                                 {"text"},
                                                 {"textId"},
                                                 {"globalTid", true},
                                                 {"domainId"}}};

/// ENUM_NSYS_EVENT_TYPE: ranges of a thread's stack and ranges with an id, of NVTX (59, 60) and of
/// the text files that nsys imports (70, 71).
bool IsRange(int64_t event_type) {
  return event_type == 59 || event_type == 60 || event_type == 70 || event_type == 71;
}

/// `text` stands before `textId`, as in COALESCE; a range with neither has an empty name.
std::optional<NvtxRange> RangeOf(std::optional<std::string_view> text,
                                 std::optional<int64_t> text_id, bool is_plain, Batch& batch) {
  if (text || !text_id) {
    std::string repaired;
    return RangeOfText(ValidText(text.value_or(""), repaired, batch.ledger), is_plain,
                       batch.dictionary);
  }
  return NvtxRange{is_plain ? NvtxRowKind::kPlainByText : NvtxRowKind::kByText,
                   batch.dictionary.TableString(*text_id, kAsNvtxText),
                   {}};
}

void ReadNvtx(Row& row, Batch& batch) {
  enum : int { kStart, kEnd, kType, kText, kTextId, kThread, kDomain };
  const int64_t type = row.Needed(kType);
  if (!IsRange(type)) {
    if (row.bad()) row.AddTo(batch.ledger);
    return;
  }
  const int64_t start_ns = row.Needed(kStart);
  const std::optional<int64_t> end_ns = row.Integer(kEnd);
  const std::optional<std::string_view> text = row.Text(kText);
  const std::optional<int64_t> text_id = row.Integer(kTextId);
  const int64_t thread = row.Needed(kThread);
  const bool is_plain = row.IntegerOr(kDomain, 0) == 0;
  Span span;
  const bool taken = end_ns ? TakeSpan(row, start_ns, *end_ns, batch, span)
                            : TakeOpenSpan(row, start_ns, batch, span);
  if (!taken) return;
  const auto range = RangeOf(text, text_id, is_plain, batch);
  if (!range) return;
  NvtxRows& rows = batch.nvtx;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(range->name);
  rows.thread.push_back(batch.dictionary.Thread(thread));
  rows.args.push_back(range->args);
  rows.kind.push_back(range->kind);
}

constexpr std::array<Column, 5> kGraphNodeColumns = {{{"start", true},
                                                      {"globalTid", true},
                                                      {"nameId"},
                                                      {"graphNodeId", true},
                                                      {"originalGraphNodeId"}}};

void ReadGraphNode(Row& row, Batch& batch) {
  enum : int { kStart, kThread, kName, kNode, kOriginal };
  const int64_t start_ns = row.Needed(kStart);
  const int64_t thread = row.Needed(kThread);
  const std::optional<int64_t> name = row.Integer(kName);
  const int64_t node = row.Needed(kNode);
  const int64_t original = row.IntegerOr(kOriginal, 0);
  Span span;
  if (!TakeSpan(row, start_ns, start_ns, batch, span)) return;
  trace::GraphNodes& rows = batch.graph_nodes;
  rows.process.push_back(batch.dictionary.Process(thread));
  rows.node.push_back(node);
  rows.original.push_back(original > 0 ? original : trace::kNoGraphNode);
  rows.thread.push_back(batch.dictionary.Thread(thread));
  rows.start_ns.push_back(span.start_ns);
  batch.graph_node_events.push_back(name ? batch.dictionary.TableString(*name, kAsNodeEvent)
                                         : trace::StringId());
}

}  // namespace

TableReader RuntimeReader() {
  return {kRuntimeCalls, kRuntimeColumns, ReadCall};
}
TableReader NvtxReader() {
  return {kNvtxEvents, kNvtxColumns, ReadNvtx};
}
TableReader GraphNodeReader(std::string_view table) {
  return {table, kGraphNodeColumns, ReadGraphNode};
}

}  // namespace layerscope::ingest::nsys
