#include "src/attribution/launch_links.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace layerscope::attribution {
namespace {

std::vector<uint32_t> CorrelatedRows(const trace::Calls& calls) {
  std::vector<uint32_t> rows;
  rows.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.correlation[i] > 0) rows.push_back(static_cast<uint32_t>(i));
  }
  return rows;
}

}  // namespace

LaunchLinks::LaunchLinks(const trace::Trace& trace, const HostProcesses& hosts,
                         const std::vector<uint8_t>& is_launch)
    : trace_(trace), hosts_(hosts), is_launch_(is_launch) {
  if (trace.activities.size() == 0) return;
  const std::vector<uint32_t> rows = CorrelatedRows(trace.calls);
  bool all_known = hosts.correlations_repeat();
  for (size_t i = 0; i < trace.processes.size(); ++i) {
    all_known = all_known && hosts.FamilyIsKnown(trace::ProcessId(i));
  }
  if (!all_known) of_all_ = IndexOf(rows);
  if (hosts.correlations_repeat()) IndexFamilies(rows);
}

KeyIndex LaunchLinks::IndexOf(std::span<const uint32_t> rows) const {
  KeyIndex index(trace_.calls.correlation, rows);
  index.ReorderGroups([&](std::span<uint32_t> group) {
    std::sort(group.begin(), group.end(),
              [&](uint32_t a, uint32_t b) { return PreferredBefore(a, b); });
  });
  return index;
}

/// Launches first, then by time and file order.
bool LaunchLinks::PreferredBefore(uint32_t a, uint32_t b) const {
  const trace::Calls& calls = trace_.calls;
  const auto key = [&](uint32_t row) {
    return std::tuple(is_launch_[calls.name[row].index()] == 0, calls.start_ns[row], row);
  };
  return key(a) < key(b);
}

size_t LaunchLinks::FamilyOfCall(uint32_t row) const {
  return hosts_.FamilyOf(trace_.threads[trace_.calls.thread[row].index()].process).index();
}

void LaunchLinks::IndexFamilies(std::span<const uint32_t> rows) {
  std::vector<std::vector<uint32_t>> rows_of(trace_.processes.size());
  for (const uint32_t row : rows) rows_of[FamilyOfCall(row)].push_back(row);
  of_family_.resize(rows_of.size());
  for (size_t family = 0; family < rows_of.size(); ++family) {
    of_family_[family] = IndexOf(rows_of[family]);
    std::vector<uint32_t>().swap(rows_of[family]);
  }
}

trace::CallId LaunchLinks::Choose(std::span<const uint32_t> candidates, int64_t start_ns) const {
  if (candidates.empty()) return {};
  if (candidates.size() == 1) return trace::CallId(candidates.front());
  const trace::Calls& calls = trace_.calls;
  const auto launches_end =
      std::partition_point(candidates.begin(), candidates.end(),
                           [&](uint32_t row) { return is_launch_[calls.name[row].index()] != 0; });
  const auto end = launches_end == candidates.begin() ? candidates.end() : launches_end;
  const auto after =
      std::upper_bound(candidates.begin(), end, start_ns,
                       [&](int64_t t_ns, uint32_t row) { return t_ns < calls.start_ns[row]; });
  return trace::CallId(after == candidates.begin() ? candidates.front() : *(after - 1));
}

trace::CallId LaunchLinks::Find(trace::ProcessId process, int64_t correlation,
                                int64_t start_ns) const {
  if (hosts_.correlations_repeat()) {
    const KeyIndex& of_family = of_family_[hosts_.FamilyOf(process).index()];
    const trace::CallId own = Choose(of_family.Find(correlation), start_ns);
    if (own.valid() || hosts_.FamilyIsKnown(process)) return own;
  }
  return Choose(of_all_.Find(correlation), start_ns);
}

std::vector<trace::CallId> LaunchLinks::LinkAll() const {
  const trace::Activities& activities = trace_.activities;
  std::vector<trace::CallId> launch(activities.size());
  for (size_t i = 0; i < activities.size(); ++i) {
    const int64_t correlation = activities.correlation[i];
    if (correlation <= 0) continue;
    launch[i] = Find(activities.process[i], correlation, activities.start_ns[i]);
  }
  return launch;
}

}  // namespace layerscope::attribution
