#include "src/ingest/nsys/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "src/ingest/nsys/gpu_names.h"
#include "src/ingest/nsys/row_loop.h"
#include "src/ingest/nsys/valid_text.h"
#include "src/trace/time_bounds.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;

constexpr std::array<Column, 2> kNameValue = {{{"name", true}, {"value", true}}};
constexpr std::string_view kGraphTraceMode = "CUDA_GRAPH_TRACE_OPTIONS:MODE";
/// In the year 2116: an absolute time and any time of a row do not overflow together. No session
/// starts before 1970.
constexpr int64_t kMaxEpochNs = trace::kMaxTimeNs;

/// The first three numbers of "2026.2.1.210".
std::string_view ThreeNumbers(std::string_view version) {
  size_t dot = 0;
  for (int i = 0; i < 3 && dot != std::string_view::npos; ++i) dot = version.find('.', dot + 1);
  return version.substr(0, dot);
}

Step ReadVersion(const Database& database, const Schema& schema, trace::Trace& trace) {
  const std::string_view table =
      schema.HasTable(kExportMetadata) ? kExportMetadata : kOldExportMetadata;
  std::string product;
  std::string format;
  const Step end = ForEachRow(database, schema, table, kNameValue, trace.ledger, [&](Row& row) {
    const auto name = row.Text(0);
    if (name == "EXPORT_PRODUCT_VERSION") product = row.Text(1).value_or("");
    if (name == "EXPORT_SCHEMA_VERSION") format = row.Text(1).value_or("");
  });
  std::string& version = trace.metadata.profiler_version;
  version = "nsys";
  if (!product.empty()) version += fmt::format(" {}", ThreeNumbers(product));
  if (!format.empty()) version += fmt::format(" (schema {})", format);
  return end;
}

Step ReadCaptureOptions(const Database& database, const Schema& schema, trace::Trace& trace) {
  return ForEachRow(database, schema, kCaptureMetadata, kNameValue, trace.ledger, [&](Row& row) {
    if (!row.Text(0).value_or("").ends_with(kGraphTraceMode)) return;
    std::string mode(row.Text(1).value_or(""));
    std::transform(mode.begin(), mode.end(), mode.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    trace.metadata.graph_trace_mode = mode;
  });
}

Step ReadSessionStart(const Database& database, const Schema& schema, trace::Trace& trace) {
  constexpr std::array<Column, 1> kColumns = {{{"utcEpochNs", true}}};
  const Step end =
      ForEachRow(database, schema, kSessionStart, kColumns, trace.ledger, [&](Row& row) {
        if (row.IsNull(0)) return;
        const int64_t start_ns = row.Needed(0);
        if (start_ns < 0 || start_ns > kMaxEpochNs) return row.SetBad(0);
        if (!row.bad()) trace.metadata.session_start_ns = start_ns;
      });
  trace.zero_ns += trace.metadata.session_start_ns.value_or(0);
  return end;
}

/// Warnings (2) and errors (3) of ENUM_DIAGNOSTIC_SEVERITY_LEVEL.
Step ReadDiagnostics(const Database& database, const Schema& schema, trace::Trace& trace) {
  constexpr std::array<Column, 2> kColumns = {{{"severity", true}, {"text", true}}};
  return ForEachRow(database, schema, kDiagnostics, kColumns, trace.ledger, [&](Row& row) {
    const int64_t severity = row.Needed(0);
    if (row.bad() || (severity != 2 && severity != 3)) return;
    trace.ledger.AddSample(LedgerCode::profiler_warning, -1, row.Text(1).value_or(""));
  });
}

}  // namespace

Step ReadMetadata(const Database& database, const Schema& schema, trace::Trace& trace) {
  Step end = ReadVersion(database, schema, trace);
  if (end == Step::kDone) end = ReadCaptureOptions(database, schema, trace);
  if (end == Step::kDone) end = ReadSessionStart(database, schema, trace);
  if (end == Step::kDone) end = ReadDiagnostics(database, schema, trace);
  if (end == Step::kDone) end = ReadGpuNames(database, schema, trace);
  return end;
}

}  // namespace layerscope::ingest::nsys
