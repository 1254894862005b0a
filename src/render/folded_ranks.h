#pragma once

#include "src/table/result.h"

namespace layerscope::render {

/// Ranks of several inputs that show no table of their own, only a line that says so: what people
/// see of them is their reduction.
struct FoldedRanks {
  const table::Block* text = nullptr;  ///< the line, once; null: no rank is folded
  table::Coverage coverage;            ///< of all of them, where they show it

  void Add(const table::RankResult& rank);
};

bool IsFolded(const table::RankResult& rank, const table::Result& result);

}  // namespace layerscope::render
