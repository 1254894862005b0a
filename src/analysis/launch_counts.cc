#include "src/analysis/launch_counts.h"

#include <tsl/robin_map.h>

#include <algorithm>

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

void CountCalls(const RankView& view, const attribution::CallNameFlags& flags, const OwnedBy& owned,
                LaunchCounts& counts) {
  const trace::Calls& calls = view.trace().calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (flags.is_launch[calls.name[i].index()] == 0) continue;
    ++counts.n;
    if (flags.is_graph_launch[calls.name[i].index()] != 0) ++counts.graph;
    const trace::ProcessId process = view.trace().threads[calls.thread[i].index()].process;
    const bool has = calls.correlation[i] > 0 && owned.count({process, calls.correlation[i]}) != 0;
    if (!has) ++counts.without_activity;
  }
}

void CountActivities(const RankView& view, const attribution::CallNameFlags& flags,
                     LaunchCounts& counts) {
  const attribution::Attribution& attr = view.attribution();
  const trace::Activities& activities = view.trace().activities;
  if (attr.cpu_only) return;
  for (uint32_t row = 0; row < activities.size(); ++row) {
    const trace::CallId call = attr.launch[row];
    if (!call.valid()) ++counts.activities_without_call;
    if (!view.IsKernel(row)) continue;
    const size_t name = call.valid() ? view.trace().calls.name[call.index()].index() : 0;
    if (!call.valid() || flags.is_launch[name] == 0) ++counts.kernels_without_launch;
    if (!call.valid() || flags.is_graph_launch[name] == 0) continue;
    ++counts.graph_kernels;
    counts.graph_kernel_sum_ns += activities.dur_ns[row];
  }
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

}  // namespace layerscope::analysis
