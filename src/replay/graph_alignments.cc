#include "src/replay/graph_alignments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace layerscope::replay {
namespace {

using attribution::Evidence;
using attribution::GraphAlignment;

int64_t CountKernels(const trace::Trace& trace, const GraphLaunch& launch) {
  return std::count_if(launch.rows.begin(), launch.rows.end(), [&](uint32_t row) {
    return trace.activities.kind[row] == trace::ActivityKind::kKernel;
  });
}

class GraphSum {
 public:
  explicit GraphSum(const Resolution& resolution) : resolution_(resolution) {}

  std::vector<GraphAlignment> Sum() {
    const GraphLaunches& graphs = resolution_.graphs;
    for (const GraphLaunches::Group& group : graphs.groups) {
      for (uint32_t i = group.begin; i < group.end; ++i) Add(i, group);
    }
    for (size_t g = 0; g < alignments_.size(); ++g) Finish(g);
    return std::move(alignments_);
  }

 private:
  /// Evidence and recording of placed launches; of others whether they are a burst (whose order,
  /// and so whose sequence, means nothing) and the sequence.
  using Key = std::tuple<Evidence, bool, int64_t>;

  Key KeyOf(uint32_t index) const {
    const LaunchOutcome& outcome = resolution_.outcomes[index];
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    if (outcome.placed() && outcome.recording >= 0) return {outcome.evidence, 0, outcome.recording};
    const bool burst = launch.burst && !outcome.placed();
    const auto size = static_cast<int64_t>(launch.rows.size());
    return {outcome.evidence, burst, burst ? -size - 1 : -1 - int64_t{launch.sequence}};
  }

  void Add(uint32_t index, const GraphLaunches::Group& group) {
    const auto [at, is_new] = graph_of_.try_emplace(KeyOf(index), alignments_.size());
    if (is_new) Begin(index);
    GraphAlignment& graph = alignments_[at->second];
    const LaunchOutcome& outcome = resolution_.outcomes[index];
    const int64_t kernels = CountKernels(resolution_.trace, resolution_.graphs.launches[index]);
    ++graph.launches;
    most_kernels_[at->second] = std::max(most_kernels_[at->second], kernels);
    kernels_[at->second] += kernels;
    graph.matched += outcome.matched;
    graph.mismatched += outcome.mismatched;
    graph.missing += outcome.missing;
    graph.confidence += outcome.confidence;  // the mean in the end
    if (group.batch && (!graph.batch || *graph.batch < *group.batch)) graph.batch = group.batch;
    if (graph.reason.empty()) graph.reason = outcome.reason;
  }

  void Begin(uint32_t index) {
    const LaunchOutcome& outcome = resolution_.outcomes[index];
    GraphAlignment& graph = alignments_.emplace_back();
    graph.graph = static_cast<int64_t>(alignments_.size()) - 1;
    graph.pieces = outcome.pieces;
    graph.evidence = outcome.evidence;
    graph.source = outcome.source;
    graph.source_batch = outcome.source_batch;
    graph.withheld = outcome.withheld;
    kernels_.push_back(0);
    most_kernels_.push_back(0);
  }

  void Finish(size_t index) {
    GraphAlignment& graph = alignments_[index];
    graph.confidence /= static_cast<double>(graph.launches);
    // Of pieces the mean forward; a window may cut the first and the last one.
    graph.kernels_per_launch =
        graph.pieces > 1 ? kernels_[index] * graph.pieces / graph.launches : most_kernels_[index];
  }

  const Resolution& resolution_;
  std::map<Key, size_t> graph_of_;
  std::vector<GraphAlignment> alignments_;
  std::vector<int64_t> kernels_;  // by graph
  std::vector<int64_t> most_kernels_;
};

void AddWarning(std::vector<table::HealthEntry>& warnings, std::string code,
                table::Severity severity, int64_t count, std::string message) {
  if (count > 0) warnings.push_back({std::move(code), severity, count, std::move(message)});
}

}  // namespace

std::vector<GraphAlignment> SumByGraph(const Resolution& resolution) {
  return GraphSum(resolution).Sum();
}

std::vector<table::HealthEntry> GraphWarnings(const std::vector<GraphAlignment>& alignments,
                                              const Resolution& resolution) {
  int64_t matched = 0, resolved = 0, withheld = 0, missing = 0, other_batch = 0, bursts = 0;
  std::string why, other, sources;
  for (const GraphAlignment& graph : alignments) {
    if (graph.evidence != Evidence::kUnresolved) {
      ++resolved;
      matched += graph.matched;
      missing += graph.missing;
    }
    if (graph.withheld && why.empty()) why = graph.reason;
    withheld += graph.withheld ? 1 : 0;
  }
  for (size_t i = 0; i < resolution.outcomes.size(); ++i) {
    const LaunchOutcome& outcome = resolution.outcomes[i];
    bursts += resolution.graphs.launches[i].burst ? 1 : 0;
    if (!outcome.other_batch) continue;
    if (other_batch++ == 0) other = outcome.reason;
  }
  std::vector<table::HealthEntry> warnings;
  AddWarning(warnings, "graph_resolved", table::Severity::kInfo, matched,
             fmt::format("{} kernels of {} graphs were placed by a recording.", matched, resolved));
  AddWarning(warnings, "capture_withheld", table::Severity::kWarning, withheld,
             fmt::format("What was given for {} graphs does not fit and was not used: {}.",
                         withheld, why));
  AddWarning(warnings, "capture_other_batch", table::Severity::kWarning, other_batch,
             fmt::format("{} graph launches were resolved by a recording of another batch size: "
                         "{}.",
                         other_batch, other));
  AddWarning(warnings, "graph_kernels_missing", table::Severity::kWarning, missing,
             fmt::format("{} recorded kernels have no counterpart under the graph launches: the "
                         "trace lost them.",
                         missing));
  AddWarning(warnings, "graph_burst", table::Severity::kWarning, bursts,
             fmt::format("{} graph launches report their kernels as one burst (deferred time "
                         "stamps): their order and durations mean nothing.",
                         bursts));
  return warnings;
}

}  // namespace layerscope::replay
