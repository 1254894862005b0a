#include "src/render/folded_ranks.h"

#include <algorithm>
#include <string>

#include "src/render/health_lines.h"

namespace layerscope::render {
namespace {

/// Adds up by name; what is new stands behind what is known.
void AddTo(const table::CellMap& more, table::CellMap& sums) {
  for (const auto& [name, ns] : more) {
    const auto known = std::find_if(sums.begin(), sums.end(),
                                    [&name = name](const auto& sum) { return sum.first == name; });
    if (known == sums.end()) {
      sums.emplace_back(name, ns);
    } else {
      known->second += ns;
    }
  }
}

}  // namespace

void FoldedRanks::Add(const table::RankResult& rank) {
  text = &rank.blocks.front();
  if (!rank.shows_modules) return;
  coverage.total_ns += rank.coverage.total_ns;
  AddTo(rank.coverage.module, coverage.module);
  AddTo(rank.coverage.layer, coverage.layer);
}

bool IsFolded(const table::RankResult& rank, const table::Result& result) {
  return HasSeveralRanks(result) && !result.reduced_blocks.empty() && !rank.abstained &&
         rank.blocks.size() == 1 && rank.blocks.front().kind == table::Block::Kind::kText;
}

}  // namespace layerscope::render
