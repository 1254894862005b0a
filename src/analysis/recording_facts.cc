#include "src/analysis/recording_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

/// A table that figures rest on, and what is not in the file where the table is not.
struct NeededTable {
  std::string_view name;
  std::string_view lack;
};

constexpr std::array<NeededTable, 3> kNeeded = {{
    {"CUPTI_ACTIVITY_KIND_KERNEL", "no kernel: record with --trace=cuda"},
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
  return absent;
}

bool LaunchesGraphs(const trace::Trace& trace) {
  return std::any_of(trace.calls.name.begin(), trace.calls.name.end(), [&](trace::StringId name) {
    return trace.strings[name].find("GraphLaunch") != std::string_view::npos;
  });
}

std::string GraphText(const trace::Trace& trace) {
  const std::string& said = trace.metadata.graph_trace_mode;
  const std::string mode = said.empty() ? "not said" : said;
  if (!LaunchesGraphs(trace)) return fmt::format("none launched (--cuda-graph-trace: {})", mode);
  const auto n_nodes = static_cast<int64_t>(trace.graph_nodes.size());
  const std::string text = fmt::format("launched; --cuda-graph-trace: {}", mode);
  if (n_nodes > 0) return fmt::format("{}, {} made", text, base::FormatCounted(n_nodes, "node"));
  if (said == "node") return text + ", but no node was made while nsys recorded";
  return text + " (node shows what they replay)";
}

/// How it is recorded, with `more` that has to be in it.
std::string HowToRecord(std::string_view more) {
  return fmt::format("record with `{}`{}", kRecordCommand, more);
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

std::optional<table::Abstention> WithoutKernels(const RankView& view) {
  const trace::Trace& trace = view.trace();
  const bool has_rows = trace.activities.size() > 0 || view.cpu_only();
  if (trace.format != trace::TraceFormat::kNsys || has_rows) return std::nullopt;
  return table::Abstention{"no_kernel_table",
                           "the file holds no CUDA activity: nsys recorded none, or the export "
                           "left the tables out",
                           HowToRecord({})};
}

std::optional<table::Abstention> WithoutModules(const RankView& view) {
  if (std::optional<table::Abstention> nothing = WithoutKernels(view)) return nothing;
  const trace::Trace& trace = view.trace();
  if (trace.format != trace::TraceFormat::kNsys || trace.scopes.size() > 0 ||
      !view.attribution().modules.modules.empty()) {
    return std::nullopt;
  }
  return table::Abstention{
      "no_module_ranges", "no NVTX range of this file names a module",
      HowToRecord(", with NVTX ranges around modules (vLLM: --enable-layerwise-nvtx-tracing; "
                  "SGLang: --enable-layerwise-nvtx-marker; TensorRT-LLM: "
                  "TLLM_LLMAPI_ENABLE_NVTX=1; elsewhere: torch.cuda.nvtx.range_push)")};
}

std::optional<table::Abstention> WithoutSteps(const RankView& view) {
  if (std::optional<table::Abstention> nothing = WithoutKernels(view)) return nothing;
  if (view.trace().format != trace::TraceFormat::kNsys || !view.attribution().steps.empty()) {
    return std::nullopt;
  }
  return table::Abstention{
      "no_step_ranges", "no NVTX range of this file is an engine's step",
      HowToRecord(", with the engine's NVTX ranges, or with one around each step: "
                  "torch.cuda.nvtx.range_push(\"bench_step::0::bs::8::past::1024\")")};
}

}  // namespace layerscope::analysis
