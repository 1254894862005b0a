#include "src/analysis/summary_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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
/// With less than this share attributed, a table of modules says little.
constexpr int64_t kResolvedPercent = 25;
/// Sum over busy by more than this: kernels overlap.
constexpr int64_t kOverlapPercent = 3;

constexpr const char* kLittleRan = "launches_without_activity";

bool Above(int64_t part, int64_t whole, int64_t percent) {
  return whole > 0 && part / percent > whole / 100;
}

/// A path as a shell wants it.
std::string Quoted(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+=,@%:").find(static_cast<char>(c)) != std::string_view::npos ||
           c >= 0x80;
  });
  if (plain && !path.empty()) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Without steps nothing tells a pause from a slow host.
bool IdlesInSteps(const SummaryFacts& facts) {
  return facts.steps.rows.empty() || facts.devices.size() > 1 ||
         facts.idle_in_steps_ns > facts.gpu.idle_ns() / 2;
}

void AddGraphs(const SummaryFacts& facts, std::vector<Suspicion>& found) {
  if (facts.graph_banner.empty()) return;
  found.push_back({"graph_replay", "graph replay", facts.graph_banner});
}

void AddCapture(const RankView& view, const SummaryFacts& facts, std::vector<Suspicion>& found) {
  const int64_t launches = facts.launches.n;
  if (view.cpu_only() || launches < 100) return;
  if (!Above(facts.launches.without_activity, launches, 50)) return;
  found.push_back(
      {kLittleRan, "little ran",
       fmt::format("{} of {} launches have no GPU activity: the trace records a graph capture, or "
                   "the profiler dropped GPU events; GPU figures are of the few that ran",
                   FormatCount(facts.launches.without_activity), FormatCount(launches))});
}

void AddIdle(const RankView& view, const SummaryFacts& facts, std::vector<Suspicion>& found) {
  const GpuTimes& gpu = facts.gpu;
  if (view.cpu_only() || !Above(gpu.idle_ns(), gpu.span_ns, kIdlePercent)) return;
  std::string text = fmt::format("{} ({} of the span)", FormatDuration(gpu.idle_ns()),
                                 FormatShare(gpu.idle_ns(), gpu.span_ns));
  if (facts.devices.size() == 1 && !facts.steps.rows.empty()) {
    text += fmt::format(", {} inside steps", FormatDuration(facts.idle_in_steps_ns));
  }
  text += IdlesInSteps(facts) ? ": host- or launch-bound" : ": the recording has pauses";
  found.push_back({"idle", "GPU idle", std::move(text)});
}

void AddOverlap(const RankView& view, const SummaryFacts& facts, std::vector<Suspicion>& found) {
  const GpuTimes& gpu = facts.gpu;
  if (view.cpu_only() || gpu.sum_ns <= gpu.busy_ns) return;
  if (!Above(gpu.sum_ns - gpu.busy_ns, gpu.busy_ns, kOverlapPercent)) return;
  found.push_back({"overlap", "overlap",
                   fmt::format("sums exceed busy time by {}: a kernel that waits counts its wait",
                               FormatDuration(gpu.sum_ns - gpu.busy_ns))});
}

void AddOther(const SummaryFacts& facts, std::vector<Suspicion>& found) {
  if (!Above(facts.other_ns, facts.tree.total_ns, kOtherPercent)) return;
  found.push_back({"other_category", "no category", facts.other});
}

}  // namespace

std::vector<Suspicion> FindSuspicions(const RankView& view, const SummaryFacts& facts) {
  std::vector<Suspicion> found;
  AddGraphs(facts, found);
  AddCapture(view, facts, found);
  // Where little ran, idle time says nothing.
  if (found.empty() || found.back().code != kLittleRan) AddIdle(view, facts, found);
  AddOverlap(view, facts, found);
  AddOther(facts, found);
  return found;
}

std::vector<NextCommand> SuggestCommands(const RankView& view, const SummaryFacts& facts) {
  const std::string input = Quoted(view.input().path);
  std::vector<NextCommand> commands;
  const auto add = [&](const std::string& verb, const std::string& options, std::string why) {
    commands.push_back(
        {fmt::format("layerscope {} {}{}{}", verb, input, options.empty() ? "" : " ", options),
         std::move(why)});
  };
  const bool idle =
      Above(facts.gpu.idle_ns(), facts.gpu.span_ns, kIdlePercent) && IdlesInSteps(facts);
  if (!view.cpu_only() && idle && !facts.steps.rows.empty()) {
    add("steps", "", "why idle");
  }
  const int64_t attributed_ns = facts.tree.total_ns - facts.tree.unattributed.gpu_ns;
  if (Above(attributed_ns, facts.tree.total_ns, kResolvedPercent)) {
    add("modules", "--rollup class", "by class");
  }
  if (facts.kernels.empty()) {
    add("info", "", "what is there");
    return commands;
  }
  add("kernels", "--by op-dims", "by op, shape");
  if (!idle && facts.steps.rows.size() > 1) add("steps", "", "by step");
  if (facts.launches.without_activity > 0 || facts.launches.kernels_without_launch > 0) {
    add("info", "", "what is lost");
  }
  constexpr size_t kMost = 3;
  if (commands.size() > kMost) commands.resize(kMost);
  return commands;
}

}  // namespace layerscope::analysis
