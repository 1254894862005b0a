#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/analysis/selection.h"
#include "src/analysis/summary_facts.h"

namespace layerscope::analysis {

/// A command that looks closer, and what it answers.
struct NextCommand {
  std::string command;
  std::string why;
};

using ModelOptions = std::vector<std::pair<std::string, std::string>>;

/// Commands on the same inputs and the same selection as the page. `inputs` are paths,
/// `model_options` of SummaryOptions.
std::vector<NextCommand> SuggestCommands(const RankView& view, const SummaryFacts& facts,
                                         const Selection& selection,
                                         const std::vector<std::string>& inputs,
                                         const ModelOptions& model_options = {});

/// "trace.json.gz --phase decode --config c.json": inputs, selection and model of such a command.
std::string CommandArguments(const Selection& selection, const std::vector<std::string>& inputs,
                             const ModelOptions& model_options);

/// "--phase decode --from 3200000ns": the options that make this selection; empty for all.
std::string SelectionOptionsText(const Selection& selection);

}  // namespace layerscope::analysis
