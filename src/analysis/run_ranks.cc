#include "src/analysis/run_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/analysis/process_ranks.h"

namespace layerscope::analysis {
namespace {

/// No run is larger; a world size beyond it is not believed.
constexpr int64_t kLargestWorld = int64_t{1} << 20;
/// Runs of consecutive ranks that fit into one line.
constexpr size_t kRunsInText = 8;

/// "0-3, 6": consecutive numbers as ranges.
std::string RangesText(const std::vector<int64_t>& numbers) {
  std::vector<std::string> runs;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (runs.size() == kRunsInText) {
      runs.push_back("…");
      break;
    }
    runs.push_back(end - i == 1 ? fmt::format("{}", numbers[i])
                                : fmt::format("{}-{}", numbers[i], numbers[end - 1]));
    i = end;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

table::Array ToArray(const std::vector<int64_t>& numbers) {
  return table::Array(numbers.begin(), numbers.end());
}

}  // namespace

RunRanks FindRanks(const AnalysisInput& input) {
  std::set<int64_t> present;
  RunRanks ranks;
  for (const RankInput& rank : input.ranks) {
    const ProcessRanks processes = RanksOfProcesses(rank);
    if (rank.rank) present.insert(*rank.rank);
    for (const trace::ProcessId host : processes.hosts) {
      const std::optional<int64_t> number = processes.rank_of[host.index()];
      if (number) present.insert(*number);
    }
    const std::optional<int64_t>& world = rank.trace->metadata.world_size;
    if (!world || *world <= 0 || *world > kLargestWorld) continue;
    ranks.world_size = std::max(*world, ranks.world_size.value_or(0));
  }
  ranks.present.assign(present.begin(), present.end());
  if (!ranks.world_size) return ranks;
  ranks.missing.emplace();
  for (int64_t rank = 0; rank < *ranks.world_size; ++rank) {
    if (present.count(rank) == 0) ranks.missing->push_back(rank);
  }
  return ranks;
}

bool HasRecordings(const AnalysisInput& input) {
  return std::any_of(input.ranks.begin(), input.ranks.end(),
                     [](const RankInput& rank) { return !rank.recording.empty(); });
}

table::Object ToObject(const RunRanks& ranks) {
  table::Object object = {{"present", ToArray(ranks.present)}};
  object.emplace_back("missing", ranks.missing ? table::Value(ToArray(*ranks.missing))
                                               : table::Value(table::Null()));
  object.emplace_back("world_size", ranks.world_size ? table::Value(*ranks.world_size)
                                                     : table::Value(table::Null()));
  return object;
}

std::string ToText(const RunRanks& ranks) {
  std::string text = ranks.present.empty() ? "unknown" : RangesText(ranks.present);
  if (!ranks.world_size) return text;
  text += fmt::format(" of {}", *ranks.world_size);
  if (!ranks.missing->empty()) text += "; missing: " + RangesText(*ranks.missing);
  return text;
}

}  // namespace layerscope::analysis
