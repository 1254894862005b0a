#include "src/analysis/abstentions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/recording_facts.h"
#include "src/attribution/lost_tables.h"

namespace layerscope::analysis {
namespace {

constexpr std::string_view kHowToExport =
    "export the report again with all of its tables: nsys export --type sqlite";

bool IsDatabase(const RankInput& rank) {
  return rank.trace->format == trace::TraceFormat::kNsys;
}

/// How a database is recorded, with `more` that has to be in it.
std::string HowToRecord(std::string_view more) {
  return fmt::format("record with `{}`{}", kRecordCommand, more);
}

/// What a step launched, and when the GPU was busy with it.
std::optional<table::Abstention> WithoutTables(const trace::Trace& trace) {
  const attribution::LostTables lost = attribution::FindLostTables(trace);
  if (lost.kernels > 0) {
    return table::Abstention{
        "lost_kernels",
        "no kernel is in the file (CUPTI_ACTIVITY_KIND_KERNEL), though launches are: when the GPU "
        "was busy is not known",
        std::string(kHowToExport)};
  }
  if (lost.calls == 0) return std::nullopt;
  return table::Abstention{
      "lost_calls",
      "no call is in the file (CUPTI_ACTIVITY_KIND_RUNTIME): what a step launched is not known",
      std::string(kHowToExport)};
}

}  // namespace

std::optional<table::Abstention> WithoutGpuWork(const RankInput& rank) {
  if (rank.trace->activities.size() > 0) return std::nullopt;
  table::Abstention nothing{"no_gpu_work", {}, {}};
  if (IsDatabase(rank)) {
    nothing.why =
        "the file holds no CUDA activity: nsys recorded none, or the export left the tables out";
    nothing.how = HowToRecord({});
  } else if (rank.attribution->cpu_only) {
    nothing.why = "the trace holds CPU ops alone: no kernel, copy or set";
    nothing.how =
        "record with the GPU's activities (ProfilerActivity.CUDA); `layerscope modules` shows the "
        "CPU time of its modules and ops";
  } else {
    nothing.why = "the trace holds no kernel, copy or set";
    nothing.how = "record with the GPU's activities (ProfilerActivity.CUDA)";
  }
  return nothing;
}

std::optional<table::Abstention> WithoutWork(const RankView& view) {
  const std::vector<table::HealthEntry>& warnings = view.attribution().warnings;
  // A graph capture is complete without work, and a warning says what it is.
  const bool is_capture =
      std::any_of(warnings.begin(), warnings.end(),
                  [](const table::HealthEntry& entry) { return entry.code == "graph_capture"; });
  return view.cpu_only() || is_capture ? std::nullopt : WithoutGpuWork(view.input());
}

std::optional<table::Abstention> WithoutSteps(const RankView& view) {
  if (std::optional<table::Abstention> nothing = WithoutWork(view)) return nothing;
  if (!view.attribution().steps.empty()) return WithoutTables(view.trace());
  if (IsDatabase(view.input())) {
    return table::Abstention{
        "no_steps", "no NVTX range of this file is an engine's step",
        HowToRecord(", with the engine's NVTX ranges, or with one around each step: "
                    "torch.cuda.nvtx.range_push(\"bench_step::0::bs::8::past::1024\")")};
  }
  return table::Abstention{
      "no_steps",
      "no annotation of this trace is an engine's step (execute_…, step[…], _forward_step, "
      "ProfilerStep#, bench_step::)",
      "profile through the engine's own profiler, or a torch.profiler schedule"};
}

std::optional<table::Abstention> WithoutNames(const RankView& view) {
  if (attribution::FindLostTables(view.trace()).names == 0) return std::nullopt;
  return table::Abstention{
      "lost_names",
      "no call of the file has a name (StringIds): which of them wait for the GPU is not known",
      std::string(kHowToExport)};
}

std::optional<table::Abstention> WithoutModules(const RankView& view) {
  if (std::optional<table::Abstention> nothing = WithoutWork(view)) return nothing;
  const bool has_modules =
      view.trace().scopes.size() > 0 || !view.attribution().modules.modules.empty();
  if (!IsDatabase(view.input()) || has_modules) return std::nullopt;
  return table::Abstention{
      "no_module_ranges", "no NVTX range of this file names a module",
      HowToRecord(", with NVTX ranges around modules (vLLM: --enable-layerwise-nvtx-tracing; "
                  "SGLang: --enable-layerwise-nvtx-marker; TensorRT-LLM: "
                  "TLLM_LLMAPI_ENABLE_NVTX=1; elsewhere: torch.cuda.nvtx.range_push)")};
}

}  // namespace layerscope::analysis
