#pragma once

#include <string>
#include <vector>

#include "src/analysis/summary_facts.h"

namespace layerscope::analysis {

/// Something on the page that a reader should not overlook.
struct Suspicion {
  std::string code;   ///< stable word: "idle", "graph_replay", …
  std::string title;  ///< two or three words for people
  std::string message;
};
std::vector<Suspicion> FindSuspicions(const RankView& view, const SummaryFacts& facts);

/// True when the file ends early or its compression is damaged.
bool IsCut(const RankView& view);

}  // namespace layerscope::analysis
