#include "src/analysis/recording_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "src/attribution/attribution.h"
#include "src/attribution/lost_tables.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

/// A table that figures rest on, and what is not in the file where the table is not.
struct NeededTable {
  std::string_view name;
  std::string_view lack;
};

constexpr std::string_view kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr std::string_view kGraphTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

constexpr std::array<NeededTable, 3> kNeeded = {{
    {kKernelTable, "no kernel: record with --trace=cuda"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "no launch, so no modules and steps: --trace=cuda"},
    {"NVTX_EVENTS", "no range, so no modules and steps: --trace=cuda,nvtx"},
}};

bool HasRows(const trace::Trace& trace, std::string_view table) {
  const auto found = trace.counts.by_cat.find(std::string(table));
  return found != trace.counts.by_cat.end() && found->second > 0;
}

std::vector<NeededTable> AbsentTables(const trace::Trace& trace) {
  std::vector<NeededTable> absent;
  for (const NeededTable& table : kNeeded) {
    if (!HasRows(trace, table.name)) absent.push_back(table);
  }
  const bool damaged = trace.ledger.count(trace::LedgerCode::damaged_database) > 0;
  for (NeededTable& table : absent) {
    if (damaged) table.lack = "not there, or lost: the database is damaged";
    if (damaged || table.name != kKernelTable || !HasRows(trace, kGraphTable)) continue;
    table.lack = "graphs were recorded whole: --cuda-graph-trace=node records their kernels";
  }
  return absent;
}

bool LaunchesGraphs(const trace::Trace& trace) {
  const std::vector<uint8_t> is_one = attribution::ClassifyCallNames(trace).is_graph_launch;
  return std::find(is_one.begin(), is_one.end(), 1) != is_one.end();
}

std::string GraphText(const trace::Trace& trace) {
  const std::string& said = trace.metadata.graph_trace_mode;
  const std::string mode = said.empty() ? "not said" : said;
  const attribution::LostTables lost = attribution::FindLostTables(trace);
  if (lost.calls + lost.names > 0) {
    return fmt::format("not known whether one was launched (--cuda-graph-trace: {})", mode);
  }
  if (!LaunchesGraphs(trace)) return fmt::format("none launched (--cuda-graph-trace: {})", mode);
  const auto n_nodes = static_cast<int64_t>(trace.graph_nodes.size());
  const std::string text = fmt::format("launched; --cuda-graph-trace: {}", mode);
  if (n_nodes > 0) return fmt::format("{}, {} made", text, base::FormatCounted(n_nodes, "node"));
  if (said == "node") return text + ", but no node was made while nsys recorded";
  return text + " (node shows what they replay)";
}

}  // namespace

std::string FormatText(const trace::Trace& trace) {
  if (trace.format == trace::TraceFormat::kKineto) return "PyTorch profiler (Kineto) trace";
  const std::string& version = trace.metadata.profiler_version;
  return "Nsight Systems export" + (version.empty() ? "" : ", " + version);
}

table::Object RecordingObject(const trace::Trace& trace) {
  table::Array absent;
  for (const NeededTable& table : AbsentTables(trace)) absent.emplace_back(table.name);
  return {{"profiler", table::TextOrNull(trace.metadata.profiler_version)},
          {"graph_trace_mode", table::TextOrNull(trace.metadata.graph_trace_mode)},
          {"n_graph_nodes", static_cast<int64_t>(trace.graph_nodes.size())},
          {"absent_tables", std::move(absent)}};
}

std::vector<std::pair<std::string, std::string>> RecordingFacts(const trace::Trace& trace) {
  std::vector<std::pair<std::string, std::string>> facts;
  facts.emplace_back("CUDA graphs", GraphText(trace));
  for (const NeededTable& table : AbsentTables(trace)) {
    facts.emplace_back("missing", fmt::format("{} ({})", table.name, table.lack));
  }
  return facts;
}

}  // namespace layerscope::analysis
