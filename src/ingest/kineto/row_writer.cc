#include "src/ingest/kineto/row_writer.h"

#include <algorithm>

#include "src/ingest/kineto/decimal_time.h"
#include "src/ingest/kineto/token.h"
#include "src/trace/module_annotation.h"

namespace layerscope::ingest::kineto {
namespace {

using trace::ActivityKind;
using trace::LedgerCode;

constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr std::string_view kProfilerStep = "ProfilerStep#";

/// Does an event of this ph set the trace's zero? (formats/kineto.md, Zero)
bool SetsZero(std::string_view ph) {
  if (ph.size() != 1) return false;
  return std::string_view("XBiICbn").find(ph[0]) != std::string_view::npos;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

bool RowWriter::NeedsArgs(const EventFields& fields) {
  const std::string_view ph = Unquoted(fields.ph);
  if (ph == "M") return true;
  if (ph != "X") return false;
  switch (kinds_.FindCat(Unquoted(fields.cat), dictionary_).event_class) {
    case EventClass::kKernel:
    case EventClass::kMemcpy:
    case EventClass::kMemset:
    case EventClass::kCall:
    case EventClass::kOp:
    case EventClass::kGraphNode:
      return true;
    default:
      return false;
  }
}

void RowWriter::Write(const EventFields& fields, const ArgFields& args, int64_t offset,
                      Batch& batch) {
  const std::string_view ph = Unquoted(fields.ph);
  const KindCounter::Cat& cat = kinds_.FindCat(Unquoted(fields.cat), dictionary_);
  kinds_.Count(ph, cat, dictionary_);
  if (ph == "X") {
    WriteComplete(fields, args, cat.event_class, offset, batch);
  } else if (ph == "M") {
    WriteMetadata(fields, args, batch);
  } else if (SetsZero(ph)) {
    if (ph == "B") batch.ledger.Add(LedgerCode::begin_end_events);
    int64_t ts_ns = 0;
    if (!fields.ts.empty() && ReadTime(fields.ts, offset, batch, ts_ns))
      batch.bounds.AddStart(ts_ns);
  }
}

bool RowWriter::ReadTime(std::string_view token, int64_t offset, Batch& batch, int64_t& ns) {
  const DecimalTime time = ParseMicroseconds(token);
  switch (time.status) {
    case TimeStatus::kRounded:
      batch.ledger.Add(LedgerCode::sub_ns_time);
      break;
    case TimeStatus::kOutOfRange:
      batch.ledger.AddSample(LedgerCode::time_out_of_range, offset, token);
      return false;
    case TimeStatus::kNotANumber:
      batch.ledger.AddSample(LedgerCode::bad_time, offset, token);
      return false;
    case TimeStatus::kExact:
      break;
  }
  ns = time.ns;
  return true;
}

bool RowWriter::ReadSpan(const EventFields& fields, int64_t offset, Batch& batch, Span& span) {
  if (fields.ts.empty()) {
    batch.ledger.AddSample(LedgerCode::missing_ts, offset, Unquoted(fields.name));
    return false;
  }
  if (!ReadTime(fields.ts, offset, batch, span.start_ns)) return false;
  if (fields.dur.empty() || fields.dur == "null") {
    batch.ledger.Add(LedgerCode::missing_dur);
  } else if (!ReadTime(fields.dur, offset, batch, span.dur_ns)) {
    return false;
  }
  if (span.dur_ns < 0) batch.ledger.Add(LedgerCode::negative_dur);
  if (!trace::IsDurationInRange(span.dur_ns)) {
    batch.ledger.AddSample(LedgerCode::time_out_of_range, offset, fields.dur);
    return false;
  }
  batch.bounds.AddSpan(span.start_ns, span.dur_ns);
  return true;
}

void RowWriter::WriteComplete(const EventFields& fields, const ArgFields& args,
                              EventClass event_class, int64_t offset, Batch& batch) {
  Span span;
  if (!ReadSpan(fields, offset, batch, span)) return;
  switch (event_class) {
    case EventClass::kKernel:
      return WriteActivity(fields, args, ActivityKind::kKernel, span, batch);
    case EventClass::kMemcpy:
      return WriteActivity(fields, args, ActivityKind::kMemcpy, span, batch);
    case EventClass::kMemset:
      return WriteActivity(fields, args, ActivityKind::kMemset, span, batch);
    case EventClass::kCall:
      return WriteCall(fields, args, span, batch);
    case EventClass::kOp:
      return WriteOp(fields, args, span, batch);
    case EventClass::kAnnotation:
      if (const auto path = ModulePath(fields.name)) {
        return WriteScope(fields, *path, true, span, batch);
      }
      return WriteAnnotation(fields, false, false, span, batch);
    case EventClass::kGpuAnnotation:
      return WriteAnnotation(fields, true, false, span, batch);
    case EventClass::kPythonFunction:
      if (StartsWith(Unquoted(fields.name), kModulePrefix)) {
        const std::string_view name = Text(fields.name, batch).substr(kModulePrefix.size());
        WriteScope(fields, name, false, span, batch);
      }
      return;
    case EventClass::kGraphNode:
      return WriteGraphNode(fields, args, span, batch);
    case EventClass::kForeign:
      batch.ledger.Add(LedgerCode::foreign_accelerator);
      return;
    case EventClass::kOther:
      return;
  }
}

std::string_view RowWriter::Text(std::string_view token, Batch& batch) {
  const std::string_view content = Unquoted(token);
  if (!IsQuoted(token) || content.find('\\') == std::string_view::npos) return content;
  if (!Unescape(content, unescaped_)) batch.ledger.Add(LedgerCode::repaired_text);
  return unescaped_;
}

std::optional<std::string_view> RowWriter::ModulePath(std::string_view token) {
  std::string_view name = Unquoted(token);
  if (name.find('\\') != std::string_view::npos) {
    if (!Unescape(name, unescaped_)) return std::nullopt;
    name = unescaped_;
  }
  return trace::ModulePathOf(name);
}

trace::StringId RowWriter::Name(std::string_view token, Batch& batch) {
  return dictionary_.String(Text(token, batch));
}

trace::StringId RowWriter::Json(std::string_view token) {
  return token.empty() ? trace::StringId() : dictionary_.String(token);
}

trace::Label RowWriter::LabelOf(std::string_view token, Batch& batch) {
  if (const auto number = ParseInteger(token)) return {*number, {}};
  return {0, Name(token, batch)};
}

trace::ThreadId RowWriter::ThreadOf(const EventFields& fields, Batch& batch) {
  if (last_thread_.Matches(fields.pid, fields.tid)) return last_thread_.id;
  const trace::ProcessId process = dictionary_.Process(LabelOf(fields.pid, batch));
  const trace::ThreadId id = dictionary_.Thread(process, LabelOf(fields.tid, batch));
  last_thread_ = {std::string(fields.pid), std::string(fields.tid), id};
  return id;
}

trace::StreamId RowWriter::StreamOf(const EventFields& fields, const ArgFields& args,
                                    Batch& batch) {
  const std::string_view device = args.device.empty() ? fields.pid : args.device;
  const std::string_view stream = args.stream.empty() ? fields.tid : args.stream;
  if (last_stream_.Matches(device, stream)) return last_stream_.id;
  const trace::StreamId id = dictionary_.Stream(LabelOf(device, batch), LabelOf(stream, batch));
  last_stream_ = {std::string(device), std::string(stream), id};
  return id;
}

namespace {

int64_t Correlation(const ArgFields& args) {
  const auto value = ParseInteger(args.correlation);
  return value && *value > 0 ? *value : trace::kNoCorrelation;
}

int64_t ExternalId(const ArgFields& args) {
  return ParseInteger(args.external_id).value_or(trace::kNoExternalId);
}

}  // namespace

void RowWriter::WriteActivity(const EventFields& fields, const ArgFields& args, ActivityKind kind,
                              Span span, Batch& batch) {
  trace::Args tuple;
  tuple.grid = Json(args.grid);
  tuple.block = Json(args.block);
  if (!args.collective.empty()) {
    tuple.collective = Name(args.collective, batch);
    if (!args.dtype.empty()) tuple.dtype = Name(args.dtype, batch);
    tuple.message_elements = ParseInteger(args.message_elements).value_or(-1);
    tuple.group_size = ParseInteger(args.group_size).value_or(-1);
  }
  trace::Activities& rows = batch.activities;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(Name(fields.name, batch));
  rows.kind.push_back(kind);
  rows.process.push_back(dictionary_.Process(LabelOf(fields.pid, batch)));
  rows.stream.push_back(StreamOf(fields, args, batch));
  rows.correlation.push_back(Correlation(args));
  rows.external_id.push_back(ExternalId(args));
  rows.args.push_back(dictionary_.Args(tuple));
  // CUPTI gives 0 to what no graph launched, and recent writers write it with every kernel.
  const int64_t node = ParseInteger(args.graph_node).value_or(0);
  if (node <= 0) return;
  rows.graph_node.resize(rows.size() - 1, trace::kNoGraphNode);
  rows.graph_node.push_back(node);
}

void RowWriter::WriteCall(const EventFields& fields, const ArgFields& args, Span span,
                          Batch& batch) {
  trace::Calls& rows = batch.calls;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(Name(fields.name, batch));
  rows.thread.push_back(ThreadOf(fields, batch));
  rows.correlation.push_back(Correlation(args));
  rows.external_id.push_back(ExternalId(args));
  if (!IsQuoted(args.kernel)) return;
  rows.kernel.resize(rows.size() - 1);
  rows.kernel.push_back(Name(args.kernel, batch));
}

void RowWriter::WriteOp(const EventFields& fields, const ArgFields& args, Span span, Batch& batch) {
  if (StartsWith(Unquoted(fields.name), kProfilerStep)) {
    return WriteAnnotation(fields, false, true, span, batch);
  }
  trace::Args tuple;
  tuple.input_dims = Json(args.input_dims);
  tuple.input_types = Json(args.input_types);
  trace::Ops& rows = batch.ops;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(Name(fields.name, batch));
  rows.thread.push_back(ThreadOf(fields, batch));
  rows.external_id.push_back(ExternalId(args));
  rows.args.push_back(dictionary_.Args(tuple));
}

void RowWriter::WriteAnnotation(const EventFields& fields, bool is_gpu, bool is_op, Span span,
                                Batch& batch) {
  trace::Annotations& rows = batch.annotations;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(Name(fields.name, batch));
  rows.thread.push_back(ThreadOf(fields, batch));
  rows.is_gpu.push_back(is_gpu ? 1 : 0);
  rows.is_op.push_back(is_op ? 1 : 0);
}

void RowWriter::WriteScope(const EventFields& fields, std::string_view name, bool is_path,
                           Span span, Batch& batch) {
  trace::Scopes& rows = batch.scopes;
  rows.start_ns.push_back(span.start_ns);
  rows.dur_ns.push_back(span.dur_ns);
  rows.name.push_back(dictionary_.String(name));
  rows.thread.push_back(ThreadOf(fields, batch));
  rows.is_path.push_back(is_path ? 1 : 0);
}

/// What documents made of a database say of its graphs (document/store_events.h).
void RowWriter::WriteGraphNode(const EventFields& fields, const ArgFields& args, Span span,
                               Batch& batch) {
  const std::optional<int64_t> node = ParseInteger(args.graph_node);
  if (!node || *node < 0) return;
  const std::optional<int64_t> original = ParseInteger(args.original_graph_node);
  trace::GraphNodes& rows = batch.graph_nodes;
  rows.process.push_back(dictionary_.Process(LabelOf(fields.pid, batch)));
  rows.node.push_back(*node);
  rows.original.push_back(original && *original >= 0 ? *original : trace::kNoGraphNode);
  rows.thread.push_back(ThreadOf(fields, batch));
  rows.start_ns.push_back(span.start_ns);
}

void RowWriter::WriteMetadata(const EventFields& fields, const ArgFields& args, Batch& batch) {
  if (!IsQuoted(args.name)) return;
  const std::string_view what = Unquoted(fields.name);
  if (what == "thread_name") {
    batch.thread_names.emplace_back(ThreadOf(fields, batch), Name(args.name, batch));
  } else if (what == "process_name") {
    batch.process_names.emplace_back(dictionary_.Process(LabelOf(fields.pid, batch)),
                                     Name(args.name, batch));
  }
}

}  // namespace layerscope::ingest::kineto
