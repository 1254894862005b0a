#include "src/attribution/activity_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/captured_pieces.h"
#include "src/attribution/lost_tables.h"
#include "src/base/checked_sum.h"
#include "src/base/format_number.h"

namespace layerscope::attribution {
namespace {

using table::Severity;

/// Number and time of some of the activities.
struct Part {
  int64_t n = 0;
  base::CheckedSum ns;
  void Add(int64_t dur_ns) {
    ++n;
    ns.Add(dur_ns);
  }
};

struct Parts {
  Part all;
  Part under_graph;
  Part hidden;     ///< of these: their module below the launch is not known
  Part whole;      ///< of these: graphs recorded without their kernels
  Part no_launch;  ///< and no module, whatever the reason
  int64_t n_graph_launches = 0;
};

Parts Measure(const trace::Trace& trace, const Attribution& attribution) {
  Parts parts;
  const trace::Activities& rows = attribution.rows(trace);
  std::vector<uint8_t> seen(trace.calls.size(), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    parts.all.Add(rows.dur_ns[i]);
    const bool is_lost = !attribution.cpu_only && !attribution.launch[i].valid() &&
                         attribution.module_evidence[i] == Evidence::kUnresolved;
    if (is_lost) parts.no_launch.Add(rows.dur_ns[i]);
    if (attribution.under_graph[i] == 0) continue;
    parts.under_graph.Add(rows.dur_ns[i]);
    if (IsHiddenByGraph(attribution, i)) parts.hidden.Add(rows.dur_ns[i]);
    if (rows.kind[i] == trace::ActivityKind::kGraph) parts.whole.Add(rows.dur_ns[i]);
    uint8_t& launch_seen = seen[attribution.launch[i].index()];
    if (launch_seen == 0) ++parts.n_graph_launches;
    launch_seen = 1;
  }
  return parts;
}

/// Less than a hundredth of the time is no warning, and asks for nothing.
constexpr int64_t kMuch = 100;

/// Nsight Systems records where a graph is captured, if it is asked to and runs by then.
std::string NsysAdvice(const Parts& parts, bool config_given) {
  if (parts.whole.n == parts.hidden.n) {
    return "Record with `nsys profile --cuda-graph-trace=node` to see their kernels and modules.";
  }
  return fmt::format(
      "Start nsys before the graphs are captured, with --cuda-graph-trace=node{}, to see them.",
      config_given ? "" : ", or give --config");
}

/// Of verbs that resolve no replay.
std::string AskModules(const trace::Trace& trace, const Parts& parts) {
  if (trace.format == trace::TraceFormat::kNsys) return NsysAdvice(parts, false);
  return "`layerscope modules` says what can show them.";
}

/// The ways out that were not tried, the best first.
std::string Advice(const trace::Trace& trace, const Parts& parts, const GivenSources& given) {
  if (trace.format == trace::TraceFormat::kNsys) return NsysAdvice(parts, given.config);
  std::vector<std::string_view> options;
  if (!given.captures) options.emplace_back("--capture-trace");
  if (!given.eager) options.emplace_back("--eager-trace");
  if (!given.config) options.emplace_back("--config");
  if (options.empty()) {
    return "A recording without graphs shows them (vLLM --enforce-eager, SGLang "
           "--disable-cuda-graph).";
  }
  const std::string_view last = options.back();
  options.pop_back();
  return fmt::format("{}{}{} may show them.", fmt::join(options, ", "),
                     options.empty() ? "" : " or ", last);
}

std::string GraphMessage(const Parts& parts) {
  const std::string launches =
      base::FormatCounted(parts.n_graph_launches, "graph launch", "graph launches");
  if (parts.hidden.n == parts.under_graph.n) {
    return fmt::format("{} of GPU time ({}) is {}; the modules below are not resolved.",
                       base::FormatShare(parts.under_graph.ns.value(), parts.all.ns.value()),
                       base::FormatCounted(parts.under_graph.n, "activity", "activities"),
                       launches);
  }
  return fmt::format("{} of GPU time ({} of {} under {}) is not resolved to modules.",
                     base::FormatShare(parts.hidden.ns.value(), parts.all.ns.value()),
                     base::FormatCount(parts.hidden.n),
                     base::FormatCounted(parts.under_graph.n, "activity", "activities"), launches);
}

std::optional<table::HealthEntry> GraphWarning(const Parts& parts, const std::string& advice) {
  if (parts.hidden.n == 0) return std::nullopt;
  const bool is_little = parts.hidden.ns.value() < parts.all.ns.value() / kMuch;
  std::string message = GraphMessage(parts);
  if (!is_little) message += " " + advice;
  return table::HealthEntry{"graph_launch", is_little ? Severity::kInfo : Severity::kWarning,
                            parts.hidden.n, std::move(message)};
}

/// A file that holds the capture of graphs and little that ran: its times are of no forward.
std::optional<table::HealthEntry> CaptureWarning(const trace::Trace& trace, const Parts& parts,
                                                 bool cpu_only) {
  if (parts.n_graph_launches > 0) return std::nullopt;
  int64_t n = 0;
  for (const CapturedPiece& piece : FindCapturedPieces(trace, {})) {
    n += static_cast<int64_t>(piece.calls.size());
  }
  if (n == 0 || (!cpu_only && n < parts.all.n)) return std::nullopt;
  return table::HealthEntry{
      "graph_capture", Severity::kWarning, n,
      fmt::format(
          "The file records a graph capture of {}, none of which ran: times are of what ran "
          "beside it. {}",
          base::FormatCounted(n, "launch", "launches"),
          trace.format == trace::TraceFormat::kNsys
              ? "Record on, until the graph is launched."
              : "Give it as --capture-trace of the trace that replays the graph.")};
}

std::string NoLaunchMessage(const Parts& parts, bool lost_calls) {
  return fmt::format(
      "{} of GPU time ({}) has no launch in the file, {}; it belongs to no module and no step.",
      base::FormatShare(parts.no_launch.ns.value(), parts.all.ns.value()),
      base::FormatCounted(parts.no_launch.n, "activity", "activities"),
      lost_calls ? "which holds no calls"
                 : "mostly work that was launched before the recording began");
}

const char* NoScopesMessage(const trace::Trace& trace) {
  if (trace.format == trace::TraceFormat::kNsys) {
    return "The file holds no NVTX range that names a module, so nothing can be given to modules; "
           "record with ranges around modules (vLLM: --enable-layerwise-nvtx-tracing; SGLang: "
           "--enable-layerwise-nvtx-marker; TensorRT-LLM: TLLM_LLMAPI_ENABLE_NVTX=1) and nsys "
           "--trace=cuda,nvtx.";
  }
  return "The file holds no nn.Module scopes, so nothing can be given to modules; "
         "record with stacks (torch.profiler: with_stack=True; vLLM: torch_profiler_with_stack in "
         "--profiler-config; SGLang: with_stack of /start_profile).";
}

/// Whole graphs that a copy of a database shows to the eye (document/store_events.h). A trace has
/// no word for them, so they are no activities, and what lacks them looks whole.
std::optional<table::HealthEntry> CopiedGraphWarning(const trace::Trace& trace) {
  const auto graphs = trace.counts.by_cat.find("X|cuda_graph");
  if (graphs == trace.counts.by_cat.end() || trace.format == trace::TraceFormat::kNsys) {
    return std::nullopt;
  }
  return table::HealthEntry{
      "copy_whole_graphs", Severity::kWarning, graphs->second,
      fmt::format("{} recorded as a whole, without kernels, and the file is a copy that shows {} "
                  "to the eye alone: no time of what they ran is counted; read the database that "
                  "the copy was made of.",
                  base::FormatCounted(graphs->second, "graph launch was", "graph launches were"),
                  graphs->second == 1 ? "it" : "them")};
}

/// What the graph nodes of an Nsight Systems trace leave open.
void AddNodeWarnings(const AttributionCounts& counts, std::vector<table::HealthEntry>& warnings) {
  const auto activities = [](int64_t n, std::string_view one, std::string_view many) {
    return base::FormatCounted(n, fmt::format("activity {}", one),
                               fmt::format("activities {}", many));
  };
  if (counts.whole_graphs > 0) {
    warnings.push_back(
        {"graph_whole", Severity::kInfo, counts.whole_graphs,
         fmt::format(
             "{} recorded as a whole (--cuda-graph-trace=graph): their time counts, their "
             "kernels are not in the file; --cuda-graph-trace=node records them.",
             base::FormatCounted(counts.whole_graphs, "graph launch is", "graph launches are"))});
  }
  if (counts.unknown_nodes > 0) {
    warnings.push_back({"graph_node_unknown", Severity::kInfo, counts.unknown_nodes,
                        fmt::format("{} from a graph node whose capture is not in the file.",
                                    activities(counts.unknown_nodes, "comes", "come"))});
  }
  if (counts.conflicting_nodes > 0) {
    warnings.push_back(
        {"graph_node_conflict", Severity::kWarning, counts.conflicting_nodes,
         fmt::format("{} from a graph node of which the file says two things: two originals, a "
                     "circle of them, or captures in two modules; no module is taken from it.",
                     activities(counts.conflicting_nodes, "comes", "come"))});
  }
  if (counts.differing_launches > 0) {
    warnings.push_back(
        {"graph_nodes_differ", Severity::kWarning, counts.differing_launches,
         fmt::format("{} other nodes than most launches of the same graph: the recording lost "
                     "activities, or began or ended inside of it.",
                     base::FormatCounted(counts.differing_launches, "graph launch holds",
                                         "graph launches hold"))});
  }
}

}  // namespace

std::vector<table::HealthEntry> ActivityWarnings(const trace::Trace& trace,
                                                 const Attribution& attribution,
                                                 const AttributionCounts& counts) {
  std::vector<table::HealthEntry> warnings;
  const Parts parts = Measure(trace, attribution);
  if (parts.all.ns.overflowed()) {
    warnings.push_back(
        {"sum_overflow", Severity::kError, parts.all.n,
         "The durations add up to more than 292 years; sums are not to be trusted."});
  }
  if (attribution.cpu_only) {
    warnings.push_back({"cpu_only", Severity::kInfo, parts.all.n,
                        "The file holds no GPU activity; times are self times of operators on the "
                        "CPU."});
  }
  if (std::optional<table::HealthEntry> graphs = GraphWarning(parts, AskModules(trace, parts))) {
    warnings.push_back(*std::move(graphs));
  }
  const LostTables lost = FindLostTables(trace);
  for (table::HealthEntry& entry : LostTableWarnings(lost)) warnings.push_back(std::move(entry));
  std::optional<table::HealthEntry> capture = CaptureWarning(trace, parts, attribution.cpu_only);
  if (capture && lost.kernels == 0) warnings.push_back(*std::move(capture));
  if (parts.no_launch.n > 0) {
    warnings.push_back({"no_launch", Severity::kWarning, parts.no_launch.n,
                        NoLaunchMessage(parts, lost.calls > 0)});
  }
  if (parts.all.n > 0 && trace.scopes.size() == 0) {
    warnings.push_back(
        {"no_module_scopes", Severity::kWarning, parts.all.n, NoScopesMessage(trace)});
  }
  AddNodeWarnings(counts, warnings);
  if (std::optional<table::HealthEntry> graphs = CopiedGraphWarning(trace)) {
    warnings.push_back(*std::move(graphs));
  }
  if (counts.step_numbers_dropped > 0) {
    warnings.push_back({"step_field_range", Severity::kWarning, counts.step_numbers_dropped,
                        "Numbers in step names overflow, or are none, and were dropped."});
  }
  return warnings;
}

bool IsAboutModules(const table::HealthEntry& entry) {
  return entry.code == "graph_launch" || entry.code == "no_module_scopes" ||
         entry.code == "graph_node_unknown" || entry.code == "graph_node_conflict";
}

void UpdateModuleWarnings(const trace::Trace& trace, Attribution& attribution,
                          const GivenSources& given) {
  std::vector<table::HealthEntry>& warnings = attribution.warnings;
  if (!attribution.modules.modules.empty()) {
    std::erase_if(warnings,
                  [](const table::HealthEntry& entry) { return entry.code == "no_module_scopes"; });
  }
  const auto at =
      std::find_if(warnings.begin(), warnings.end(),
                   [](const table::HealthEntry& entry) { return entry.code == "graph_launch"; });
  if (at == warnings.end()) return;
  const Parts parts = Measure(trace, attribution);
  std::optional<table::HealthEntry> graphs = GraphWarning(parts, Advice(trace, parts, given));
  if (graphs) {
    *at = *std::move(graphs);
  } else {
    warnings.erase(at);
  }
}

}  // namespace layerscope::attribution
