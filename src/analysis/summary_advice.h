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

/// A command that looks closer, and what it answers.
struct NextCommand {
  std::string command;
  std::string why;
};
std::vector<NextCommand> SuggestCommands(const RankView& view, const SummaryFacts& facts);

}  // namespace layerscope::analysis
