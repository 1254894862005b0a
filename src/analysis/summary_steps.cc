#include "src/analysis/summary_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using base::FormatCount;
using base::FormatDuration;
using base::FormatShare;

/// "7.03..16.7 ms": the unit once when both have it; one value when both read alike.
std::string RangeText(int64_t low_ns, int64_t high_ns) {
  std::string low = FormatDuration(low_ns);
  const std::string high = FormatDuration(high_ns);
  if (low == high) return low;
  const std::string unit = high.substr(high.rfind(' '));
  if (low.ends_with(unit)) low.resize(low.size() - unit.size());
  return fmt::format("{}..{}", low, high);
}

/// "wall 16.7 ms (92.0 % busy)" of one step, "wall 7.03..16.7 ms (median 7.05 ms, 92.0 % busy)" of
/// several. The median says enough of many walls that differ little.
std::string WallText(const PhaseRow& phase) {
  const std::string busy = phase.median_busy_ppm
                               ? FormatShare(*phase.median_busy_ppm, 1'000'000) + " busy"
                               : std::string();
  const std::string median = FormatDuration(*phase.median_wall_ns);
  const int64_t low_ns = phase.walls_ns.front();
  const int64_t high_ns = phase.walls_ns.back();
  const size_t n = phase.walls_ns.size();
  if (n == 2) return fmt::format("wall {}", RangeText(low_ns, high_ns));
  if (n > 2 && high_ns / 2 > low_ns) {
    return fmt::format("wall {} (median {}{}{})", RangeText(low_ns, high_ns), median,
                       busy.empty() ? "" : ", ", busy);
  }
  return fmt::format("{} {}{}", n > 1 ? "median wall" : "wall", median,
                     busy.empty() ? "" : fmt::format(" ({})", busy));
}

/// "8 requests"; "2..6 tokens" of steps that differ.
std::string CountText(const CountRange& range, const char* what) {
  if (range.low == range.high) return base::FormatCounted(range.high, what);
  return fmt::format("{}..{}", FormatCount(range.low), base::FormatCounted(range.high, what));
}

std::string PerTokenText(const PhaseRow& phase) {
  const std::vector<int64_t>& all = phase.ns_per_token;
  if (all.size() == 2) return RangeText(all.front(), all.back()) + "/token";
  return fmt::format("{}{}/token", all.size() > 1 ? "median " : "",
                     FormatDuration(*phase.median_ns_per_token));
}

/// The steps of each process that has any, where that is one number; else nothing.
std::optional<int64_t> StepsOfEach(const PhaseRow& phase) {
  const size_t first = phase.steps_of.begin()->second.size();
  for (const auto& [pid, steps] : phase.steps_of) {
    if (steps.size() != first) return std::nullopt;
  }
  return static_cast<int64_t>(first);
}

int64_t StepsOfAll(const PhaseRow& phase) {
  int64_t n = 0;
  for (const auto& [pid, steps] : phase.steps_of) n += static_cast<int64_t>(steps.size());
  return n;
}

std::string PhaseText(const PhaseRow& phase, int64_t n) {
  std::string text = phase.phase.empty() ? base::FormatCounted(n, "step") + " of unknown phase"
                                         : fmt::format("{} {}", FormatCount(n), phase.phase);
  std::vector<std::string> parts;
  if (phase.median_wall_ns) parts.push_back(WallText(phase));
  if (phase.requests_range) parts.push_back(CountText(*phase.requests_range, "request"));
  if (phase.tokens_range) parts.push_back(CountText(*phase.tokens_range, "token"));
  if (phase.median_ns_per_token) parts.push_back(PerTokenText(phase));
  if (!parts.empty()) text += fmt::format(": {}", fmt::join(parts, ", "));
  return text;
}

}  // namespace

std::string StepsText(const std::vector<PhaseRow>& phases) {
  if (phases.empty()) return "none annotated";
  std::set<LabelValue> pids;
  for (const PhaseRow& phase : phases) {
    for (const auto& [pid, steps] : phase.steps_of) pids.insert(pid);
  }
  const bool alike = std::all_of(phases.begin(), phases.end(), [&pids](const PhaseRow& phase) {
    return phase.steps_of.size() == pids.size() && StepsOfEach(phase).has_value();
  });
  std::vector<std::string> parts;
  for (const PhaseRow& phase : phases) {
    parts.push_back(PhaseText(phase, alike ? *StepsOfEach(phase) : StepsOfAll(phase)));
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (pids.size() < 2) return text;
  return fmt::format("{}: {}",
                     alike ? fmt::format("on each of {} ranks", pids.size())
                           : fmt::format("on {} ranks together", pids.size()),
                     text);
}

}  // namespace layerscope::analysis
