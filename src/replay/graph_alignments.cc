#include "src/replay/graph_alignments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/format_number.h"
#include "src/replay/graph_identity.h"
#include "src/replay/lost_kernels.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;
using attribution::GraphAlignment;
using base::FormatCounted;

int64_t CountKernels(const trace::Trace& trace, const GraphLaunch& launch) {
  return std::count_if(launch.rows.begin(), launch.rows.end(), [&](uint32_t row) {
    return trace.activities.kind[row] == trace::ActivityKind::kKernel;
  });
}

std::string_view FileOf(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// What is odd, and what other sources said that did not fit.
std::string ReasonOf(const LaunchOutcome& outcome) {
  std::string reason = outcome.reason;
  for (size_t i = outcome.withheld ? 1 : 0; i < outcome.refusals.size(); ++i) {
    const Refusal& refusal = outcome.refusals[i];
    if (!reason.empty()) reason += "; ";
    if (!refusal.path.empty()) reason += std::string(FileOf(refusal.path)) + " is withheld: ";
    reason += refusal.reason;
  }
  return reason;
}

class GraphSum {
 public:
  explicit GraphSum(const Resolution& resolution)
      : resolution_(resolution), identity_(resolution) {}

  GraphSums Sum() {
    const GraphLaunches& graphs = resolution_.graphs;
    for (const GraphLaunches::Group& group : graphs.groups) {
      for (uint32_t i = group.begin; i < group.end; ++i) Add(i, group);
    }
    sums_.graphs = attribution::SumLaunches(std::move(sums_.graphs), sums_.launches,
                                            [](const auto&) { return true; });
    for (size_t g = 0; g < sums_.graphs.size(); ++g) Finish(g);
    std::sort(sums_.launches.begin(), sums_.launches.end(),
              [](const auto& a, const auto& b) { return a.call < b.call; });
    return std::move(sums_);
  }

 private:
  void Add(uint32_t index, const GraphLaunches::Group& group) {
    const auto [at, is_new] =
        graph_of_.try_emplace(identity_.Of(index), static_cast<uint32_t>(sums_.graphs.size()));
    if (is_new) Begin(index);
    const LaunchOutcome& outcome = resolution_.outcomes[index];
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    const int64_t kernels = CountKernels(resolution_.trace, launch);
    most_kernels_[at->second] = std::max(most_kernels_[at->second], kernels);
    if (forward_[at->second] != group.begin) kernels_[at->second] = 0;
    forward_[at->second] = group.begin;
    kernels_[at->second] += kernels;
    most_of_forward_[at->second] = std::max(most_of_forward_[at->second], kernels_[at->second]);
    GraphAlignment& graph = sums_.graphs[at->second];
    if (graph.reason.empty()) graph.reason = ReasonOf(outcome);
    sums_.launches.push_back({launch.call, at->second, group.batch, outcome.matched,
                              outcome.mismatched, outcome.missing, outcome.confidence});
  }

  void Begin(uint32_t index) {
    const LaunchOutcome& outcome = resolution_.outcomes[index];
    GraphAlignment& graph = sums_.graphs.emplace_back();
    graph.graph = static_cast<int64_t>(sums_.graphs.size()) - 1;
    graph.process = ProcessOf(resolution_, index);
    graph.pieces = outcome.pieces;
    graph.evidence = outcome.evidence;
    graph.source = outcome.source;
    graph.own_steps = outcome.own_steps;
    graph.source_batch = outcome.source_batch;
    graph.withheld = outcome.withheld;
    kernels_.push_back(0);
    forward_.push_back(0);
    most_of_forward_.push_back(0);
    most_kernels_.push_back(0);
  }

  void Finish(size_t index) {
    GraphAlignment& graph = sums_.graphs[index];
    // Of pieces the largest forward: a window may cut the first and the last one.
    graph.kernels_per_launch = graph.pieces > 1 ? most_of_forward_[index] : most_kernels_[index];
  }

  const Resolution& resolution_;
  const GraphIdentity identity_;
  std::map<GraphIdentity::Key, uint32_t> graph_of_;
  GraphSums sums_;
  std::vector<int64_t> kernels_;   // by graph: of the forward that begins at forward_
  std::vector<uint32_t> forward_;  // by graph
  std::vector<int64_t> most_of_forward_;
  std::vector<int64_t> most_kernels_;
};

void AddWarning(std::vector<table::HealthEntry>& warnings, std::string code,
                table::Severity severity, int64_t count, std::string message) {
  if (count > 0) warnings.push_back({std::move(code), severity, count, std::move(message)});
}

/// "1 graph launch was", "12 graph launches were".
std::string Launches(int64_t count, std::string_view one, std::string_view many) {
  return FormatCounted(count, fmt::format("graph launch {}", one),
                       fmt::format("graph launches {}", many));
}

struct WithheldCode {
  Evidence source;
  std::string_view code;
  std::string_view what;
};
constexpr WithheldCode kWithheldCodes[] = {
    {Evidence::kGraphNode, "annotations_withheld", "The graph annotations"},
    {Evidence::kCaptureAlignment, "capture_withheld", "The captures that were given"},
    {Evidence::kEagerAlignment, "eager_withheld", "The eager run that was given"},
    {Evidence::kTemplate, "template_withheld", "The modules that the config implies"},
};

/// One entry for each kind of source that was given and did not fit, with the reason of the first.
void AddWithheld(const Resolution& resolution, std::vector<table::HealthEntry>& warnings) {
  for (const WithheldSource& withheld : WithheldSources(resolution)) {
    for (const WithheldCode& kind : kWithheldCodes) {
      if (withheld.source != kind.source) continue;
      AddWarning(warnings, std::string(kind.code), table::Severity::kWarning, withheld.launches,
                 fmt::format("{} could not be used for {}: {}.", kind.what,
                             FormatCounted(withheld.launches, "graph launch", "graph launches"),
                             withheld.why));
    }
  }
}

}  // namespace

GraphSums SumByGraph(const Resolution& resolution) {
  return GraphSum(resolution).Sum();
}

std::vector<WithheldSource> WithheldSources(const Resolution& resolution) {
  std::vector<WithheldSource> sources;
  for (const WithheldCode& kind : kWithheldCodes) {
    WithheldSource withheld{kind.source, 0, {}};
    for (const LaunchOutcome& outcome : resolution.outcomes) {
      for (const Refusal& refusal : outcome.refusals) {
        if (refusal.source == kind.source && withheld.launches++ == 0) {
          withheld.why = refusal.reason;
        }
      }
    }
    if (withheld.launches > 0) sources.push_back(std::move(withheld));
  }
  return sources;
}

std::vector<table::HealthEntry> GraphWarnings(const std::vector<GraphAlignment>& alignments,
                                              const Resolution& resolution) {
  int64_t matched = 0, resolved = 0, missing = 0, other_batch = 0, bursts = 0;
  std::string other;
  for (const GraphAlignment& graph : alignments) {
    if (graph.evidence == Evidence::kUnresolved) continue;
    ++resolved;
    matched += graph.matched;
    missing += graph.missing;
  }
  for (size_t i = 0; i < resolution.outcomes.size(); ++i) {
    const LaunchOutcome& outcome = resolution.outcomes[i];
    bursts += resolution.graphs.launches[i].burst ? 1 : 0;
    if (!outcome.other_batch) continue;
    if (other_batch++ == 0) other = outcome.reason;
  }
  std::vector<table::HealthEntry> warnings;
  AddWarning(warnings, "graph_resolved", table::Severity::kInfo, matched,
             fmt::format("{} of {} were given their modules.", FormatCounted(matched, "kernel"),
                         FormatCounted(resolved, "graph")));
  AddWithheld(resolution, warnings);
  AddWarning(warnings, "capture_other_batch", table::Severity::kWarning, other_batch,
             fmt::format("{} resolved by a recording of another batch size: {}.",
                         Launches(other_batch, "was", "were"), other));
  AddWarning(warnings, "graph_kernels_missing", table::Severity::kWarning, missing,
             fmt::format("{} no counterpart under the graph launches: the trace lost {}.",
                         FormatCounted(missing, "recorded kernel has", "recorded kernels have"),
                         missing == 1 ? "it" : "them"));
  const int64_t lost = CountLostKernels(resolution);
  AddWarning(
      warnings, "graph_kernels_missing", table::Severity::kWarning, lost,
      fmt::format("{} in some launches of a graph and not in others of the same step kind: "
                  "the trace lost {}.",
                  FormatCounted(lost, "kernel is", "kernels are"), lost == 1 ? "it" : "them"));
  AddWarning(warnings, "graph_burst", table::Severity::kWarning, bursts,
             fmt::format("{} kernels as one burst (deferred time stamps): their order and "
                         "durations mean nothing.",
                         Launches(bursts, "reports its", "report their")));
  return warnings;
}

}  // namespace layerscope::replay
