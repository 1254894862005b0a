#include "src/render/health_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "src/base/format_number.h"

namespace layerscope::render {
namespace {

using table::HealthEntry;
using table::Severity;

struct SharedWarning {
  HealthEntry entry;
  std::vector<const table::RankResult*> ranks;
};

bool SameCause(const HealthEntry& a, const HealthEntry& b) {
  return a.code == b.code && a.severity == b.severity && a.message == b.message;
}

std::vector<SharedWarning> GroupWarnings(const table::Result& result) {
  std::vector<SharedWarning> groups;
  for (const table::RankResult& rank : result.ranks) {
    for (const HealthEntry& warning : rank.warnings) {
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const SharedWarning& group) {
        return SameCause(group.entry, warning);
      });
      if (same == groups.end()) {
        groups.push_back({warning, {&rank}});
      } else {
        same->entry.count += warning.count;
        if (same->ranks.back() != &rank) same->ranks.push_back(&rank);
      }
    }
  }
  return groups;
}

std::string RankPrefix(const std::vector<const table::RankResult*>& ranks,
                       const table::Result& result) {
  std::vector<std::string> names;
  bool all_numbered = true;
  const bool twice = HasRankTwice(result);
  for (const table::RankResult* rank : ranks) {
    const bool by_rank = rank->rank && !twice;
    all_numbered = all_numbered && by_rank;
    names.push_back(by_rank ? fmt::format("{}", *rank->rank) : rank->input);
  }
  const char* const what = !all_numbered ? "" : ranks.size() == 1 ? "rank " : "ranks ";
  return fmt::format("{}{}: ", what, fmt::join(names, ", "));
}

std::string Shares(const table::CellMap& classes, int64_t total_ns) {
  std::string out;
  for (const auto& [name, ns] : classes) {
    if (ns == 0) continue;
    if (!out.empty()) out += ", ";
    out += name + ' ' + base::FormatShare(ns, total_ns);
  }
  return out;
}

bool AnyResolved(const table::CellMap& classes) {
  return std::any_of(classes.begin(), classes.end(), [](const auto& entry) {
    return entry.second != 0 && entry.first != "unresolved";
  });
}

}  // namespace

std::vector<HealthEntry> CollectHealth(const table::Result& result) {
  std::vector<HealthEntry> health = result.health;
  if (!HasSeveralRanks(result)) {
    for (const table::RankResult& rank : result.ranks) {
      health.insert(health.end(), rank.warnings.begin(), rank.warnings.end());
    }
    return health;
  }
  for (SharedWarning& group : GroupWarnings(result)) {
    if (group.ranks.size() < result.ranks.size()) {
      group.entry.message.insert(0, RankPrefix(group.ranks, result));
    }
    health.push_back(std::move(group.entry));
  }
  return health;
}

std::vector<HealthEntry> HealthForPeople(const table::Result& result, bool verbose) {
  std::vector<HealthEntry> health = CollectHealth(result);
  if (!verbose) {
    health.erase(std::remove_if(health.begin(), health.end(),
                                [](const HealthEntry& e) { return e.severity == Severity::kInfo; }),
                 health.end());
  }
  std::stable_sort(health.begin(), health.end(), [](const HealthEntry& a, const HealthEntry& b) {
    return a.severity > b.severity;
  });
  return health;
}

std::string SeverityWords(Severity severity) {
  std::string words(table::ToString(severity));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string HealthText(const HealthEntry& entry) {
  if (entry.count <= 1) return fmt::format("{} [{}]", entry.message, entry.code);
  return fmt::format("{} [{} × {}]", entry.message, entry.code, base::FormatCount(entry.count));
}

std::vector<std::string> CoverageLines(const table::Coverage& coverage) {
  if (coverage.total_ns == 0) return {};
  const bool has_layers = AnyResolved(coverage.layer);
  std::vector<std::string> lines = {(has_layers ? "evidence of modules: " : "evidence: ") +
                                    Shares(coverage.module, coverage.total_ns)};
  if (has_layers) {
    lines.push_back("evidence of layers: " + Shares(coverage.layer, coverage.total_ns));
  }
  return lines;
}

bool HasRankTwice(const table::Result& result) {
  std::set<int64_t> seen;
  return std::any_of(result.ranks.begin(), result.ranks.end(), [&](const table::RankResult& rank) {
    return rank.rank && !seen.insert(*rank.rank).second;
  });
}

std::string RankName(const table::RankResult& rank) {
  return rank.rank ? fmt::format("rank {}", *rank.rank) : rank.input;
}

bool HasSeveralRanks(const table::Result& result) {
  return result.ranks.size() > 1 || result.inputs.size() > 1;
}

}  // namespace layerscope::render
