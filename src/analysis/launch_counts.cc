#include "src/analysis/launch_counts.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/attribution/captured_pieces.h"
#include "src/base/format_number.h"
#include "src/base/hash.h"

namespace layerscope::analysis {
namespace {

/// A correlation is unique within a process.
struct ProcessCorrelation {
  trace::ProcessId process;
  int64_t correlation = 0;
  friend bool operator==(const ProcessCorrelation&, const ProcessCorrelation&) = default;
};

struct Hash {
  size_t operator()(const ProcessCorrelation& key) const noexcept {
    return base::Mix(base::Mix(static_cast<uint64_t>(key.correlation)) + key.process.index());
  }
};

struct Owned {
  int64_t kernels = 0;
  int64_t activities = 0;
};

using OwnedBy = tsl::robin_map<ProcessCorrelation, Owned, Hash>;

OwnedBy CountOwned(const RankView& view) {
  const trace::Activities& activities = view.trace().activities;
  const attribution::Attribution& attr = view.attribution();
  OwnedBy owned;
  if (attr.cpu_only) return owned;
  for (uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.correlation[row] <= 0) continue;
    Owned& counts = owned[{attr.host_process[row], activities.correlation[row]}];
    ++counts.activities;
    if (view.IsKernel(row)) ++counts.kernels;
  }
  return owned;
}

/// What was recorded into graphs. Two layers of the API report one call under one correlation.
struct Captured {
  std::vector<uint8_t> calls;  ///< by CallId
  tsl::robin_set<ProcessCorrelation, Hash> keys;
};

Captured FindCaptured(const trace::Trace& trace) {
  Captured captured;
  captured.calls.assign(trace.calls.size(), 0);
  for (const attribution::CapturedPiece& piece : attribution::FindCapturedPieces(trace, {})) {
    for (const attribution::CapturedCall& call : piece.calls) {
      captured.calls[call.call] = 1;
      const int64_t correlation = trace.calls.correlation[call.call];
      const trace::ThreadId thread = trace.calls.thread[call.call];
      if (correlation > 0) {
        captured.keys.insert({trace.threads[thread.index()].process, correlation});
      }
    }
  }
  return captured;
}

void CountCalls(const RankView& view, const attribution::CallNameFlags& flags, const OwnedBy& owned,
                LaunchCounts& counts) {
  const trace::Calls& calls = view.trace().calls;
  const Captured captured = FindCaptured(view.trace());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (flags.is_launch[calls.name[i].index()] == 0) continue;
    ++counts.n;
    if (flags.is_graph_launch[calls.name[i].index()] != 0) ++counts.graph;
    const trace::ProcessId process = view.trace().threads[calls.thread[i].index()].process;
    const ProcessCorrelation key{process, calls.correlation[i]};
    if (key.correlation > 0 && owned.count(key) != 0) continue;
    ++counts.without_activity;
    if (captured.calls[i] != 0 || captured.keys.count(key) != 0) ++counts.captured;
  }
}

void CountActivities(const RankView& view, const attribution::CallNameFlags& flags,
                     LaunchCounts& counts) {
  const attribution::Attribution& attr = view.attribution();
  const trace::Activities& activities = view.trace().activities;
  if (attr.cpu_only) return;
  tsl::robin_map<uint64_t, int64_t, base::MixHash> kernels_of_launch;
  for (uint32_t row = 0; row < activities.size(); ++row) {
    const trace::CallId call = attr.launch[row];
    if (!call.valid()) ++counts.activities_without_call;
    if (!view.IsKernel(row)) continue;
    const size_t name = call.valid() ? view.trace().calls.name[call.index()].index() : 0;
    if (!call.valid() || flags.is_launch[name] == 0) ++counts.kernels_without_launch;
    if (!call.valid() || flags.is_graph_launch[name] == 0) continue;
    ++counts.graph_kernels;
    const int64_t of_launch = ++kernels_of_launch[call.index()];
    counts.max_graph_kernels = std::max(counts.max_graph_kernels, of_launch);
    counts.graph_kernel_sum_ns += activities.dur_ns[row];
  }
}

/// What the graph launches ran: kernels, or where they were recorded whole their own time.
std::string GraphLaunchText(const LaunchCounts& launches, int64_t n_graphs, int64_t graph_ns) {
  std::vector<std::string> parts;
  if (launches.graph_kernels > 0 || n_graphs == 0) {
    parts.push_back(fmt::format("largest: {}, {} in all",
                                base::FormatCounted(launches.max_graph_kernels, "kernel"),
                                base::FormatDuration(launches.graph_kernel_sum_ns)));
  }
  if (n_graphs > 0) {
    parts.push_back(fmt::format("{} recorded whole, {}", base::FormatCount(n_graphs),
                                base::FormatDuration(graph_ns)));
  }
  return fmt::format("{} ({})",
                     base::FormatCounted(launches.graph, "graph launch", "graph launches"),
                     fmt::join(parts, "; "));
}

}  // namespace

LaunchCounts CountLaunches(const RankView& view) {
  const attribution::CallNameFlags flags = attribution::ClassifyCallNames(view.trace());
  const OwnedBy owned = CountOwned(view);
  LaunchCounts counts;
  CountCalls(view, flags, owned, counts);
  CountActivities(view, flags, counts);
  for (const auto& [key, of_one] : owned) {
    counts.max_kernels = std::max(counts.max_kernels, of_one.kernels);
  }
  return counts;
}

std::string LaunchText(const LaunchCounts& launches, int64_t n_graphs, int64_t graph_ns) {
  if (launches.n == 0) return "none recorded";
  std::string text = base::FormatCount(launches.n);
  if (launches.captured > 0) {
    text += fmt::format(", of which {} recorded into graphs", base::FormatCount(launches.captured));
  }
  text += fmt::format(", {}{} without an activity", launches.captured > 0 ? "" : "of which ",
                      base::FormatCount(LostLaunches(launches)));
  if (launches.graph > 0) text += "; " + GraphLaunchText(launches, n_graphs, graph_ns);
  return text;
}

}  // namespace layerscope::analysis
