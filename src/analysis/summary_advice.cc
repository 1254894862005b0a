#include "src/analysis/summary_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/analysis/idle_text.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using base::FormatCount;
using base::FormatDuration;
using base::FormatShare;

/// Idle above a quarter of the span is worth a look before any kernel is.
constexpr int64_t kIdlePercent = 25;
/// Above this share `other` hides something (the rules aim at less than 5 % on LLM traces).
constexpr int64_t kOtherPercent = 5;
/// Sum over busy by more than this: kernels overlap.
constexpr int64_t kOverlapPercent = 3;

constexpr const char* kLittleRan = "launches_without_activity";

bool Above(int64_t part, int64_t whole, int64_t percent) {
  return whole > 0 && part / percent > whole / 100;
}

void AddGraphs(const SummaryFacts& facts, std::vector<Suspicion>& found) {
  if (facts.graph_banner.empty()) return;
  found.push_back({"graph_replay", "graph replay", facts.graph_banner});
}

bool RecordsCapture(const RankView& view) {
  const std::vector<table::HealthEntry>& health = view.attribution().warnings;
  return std::any_of(health.begin(), health.end(),
                     [](const table::HealthEntry& entry) { return entry.code == "graph_capture"; });
}

void AddCapture(const RankView& view, const SummaryFacts& facts, std::vector<Suspicion>& found) {
  const int64_t launches = facts.launches.n;
  if (view.cpu_only() || launches < 100) return;
  if (!Above(facts.launches.without_activity, launches, 50)) return;
  // What was captured and replayed did run.
  if (facts.graphs.n_launches > 0 && !Above(LostLaunches(facts.launches), launches, 50)) return;
  found.push_back(
      {kLittleRan, "little ran",
       fmt::format(
           "{} of {} launches have no GPU activity: {}; GPU figures are of the few that ran",
           FormatCount(facts.launches.without_activity), FormatCount(launches),
           RecordsCapture(view) ? "the trace records a graph capture"
                                : "the profiler dropped GPU events")});
}

void AddLoss(const RankView& view, std::vector<Suspicion>& found) {
  if (!IsCut(view)) return;
  std::string text = "the file ends early: GPU events may not have been reached";
  text +=
      view.cpu_only() ? ", so this need not be a CPU-only run" : "; figures are of what was read";
  found.push_back({"file_cut", "file is cut", std::move(text)});
}

void AddIdle(const RankView& view, const SummaryFacts& facts, std::vector<Suspicion>& found) {
  if (!facts.idle || !Above(facts.idle->idle_ns, facts.gpu.span_ns, kIdlePercent)) return;
  const IdleReport& idle = *facts.idle;
  std::string text = fmt::format("{} ({} of the span)", FormatDuration(idle.idle_ns),
                                 FormatShare(idle.idle_ns, facts.gpu.span_ns));
  if (!facts.steps.rows.empty()) {
    text += fmt::format(", {} inside step annotations", FormatDuration(idle.in_steps_ns));
  }
  const std::string why = IdleText(view, idle);
  if (!why.empty()) text += ": " + why;
  found.push_back({"idle", "GPU idle", std::move(text)});
}

void AddOverlap(const RankView& view, const SummaryFacts& facts, std::vector<Suspicion>& found) {
  const GpuTimes& gpu = facts.gpu;
  if (view.cpu_only() || gpu.sum_ns <= gpu.busy_ns) return;
  if (!Above(gpu.sum_ns - gpu.busy_ns, gpu.busy_ns, kOverlapPercent)) return;
  // Work of two processes overlaps without a wait; that is said of their device.
  const bool is_shared = std::any_of(facts.devices.begin(), facts.devices.end(),
                                     [](const DeviceRow& row) { return row.pids.size() > 1; });
  found.push_back(
      {"overlap", "overlap",
       fmt::format("sums exceed busy time by {}{}", FormatDuration(gpu.sum_ns - gpu.busy_ns),
                   is_shared ? "" : ": a kernel that waits counts its wait")});
}

void AddSharedDevices(const RankView& view, const SummaryFacts& facts,
                      std::vector<Suspicion>& found) {
  for (const DeviceRow& device : facts.devices) {
    std::string text = SharedDeviceText(view, device);
    if (!text.empty()) found.push_back({"shared_device", "one device", std::move(text)});
  }
}

/// Several ranks in one file, of which layers are sought one at a time.
void AddMixedRanks(const RankView& view, std::vector<Suspicion>& found) {
  if (!LayersOfOneRank(view)) return;
  found.push_back({"layers_of_ranks", "no layers", view.input().no_layers->message});
}

void AddOther(const SummaryFacts& facts, std::vector<Suspicion>& found) {
  if (!Above(facts.other_ns, facts.tree.total_ns, kOtherPercent)) return;
  found.push_back({"other_category", "no category", facts.other});
}

void AddCompiled(const SummaryFacts& facts, std::vector<Suspicion>& found) {
  if (!facts.compiled.empty()) found.push_back({"compiled", "compiled", facts.compiled});
}

}  // namespace

bool IsCut(const RankView& view) {
  const trace::Ledger& ledger = view.trace().ledger;
  return ledger.count(trace::LedgerCode::truncated) > 0 ||
         ledger.count(trace::LedgerCode::corrupt_compression) > 0;
}

std::vector<Suspicion> FindSuspicions(const RankView& view, const SummaryFacts& facts) {
  std::vector<Suspicion> found;
  AddLoss(view, found);
  AddGraphs(facts, found);
  AddCapture(view, facts, found);
  // Where little ran, idle time says nothing.
  if (found.empty() || found.back().code != kLittleRan) AddIdle(view, facts, found);
  AddSharedDevices(view, facts, found);
  AddOverlap(view, facts, found);
  AddMixedRanks(view, found);
  AddOther(facts, found);
  AddCompiled(facts, found);
  return found;
}

}  // namespace layerscope::analysis
