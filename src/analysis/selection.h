#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/rank_view.h"
#include "src/base/result.h"

namespace layerscope::analysis {

/// What part of a run is looked at: --rank --pid --device --stream --step --phase --pass --layer
/// --module --from --to --no-comm. All given conditions hold at once.
struct Selection {
  std::optional<int64_t> rank{};
  std::optional<std::string> pid{};
  std::optional<std::string> device{};
  std::optional<std::string> stream{};
  /// First and last, both included: indices of steps, or where there are none of those the numbers
  /// of ProfilerStep#N.
  std::optional<std::pair<int64_t, int64_t>> steps{};
  std::optional<std::string> phase{};
  /// First and last pass, both included: LayerStructure::passes.
  std::optional<std::pair<int64_t, int64_t>> passes{};
  /// "7", "2..5", "head" or "tail": kernels of these layers (foreign ones are in none). Without
  /// `passes` of the pass that `layers` shows (ChoosePass).
  std::optional<std::string> layer{};
  /// A path, an instance (`Attention_3`), a class (`Attention`) or a row of several modules
  /// (`Attention_0..35`), everything below it included; or `[unattributed]`.
  std::optional<std::string> module{};
  std::optional<int64_t> from_ns{};  ///< activities that start at or after it
  std::optional<int64_t> to_ns{};    ///< activities that start before it
  bool without_communication = false;

  /// True when every activity of the trace is chosen.
  bool All() const;
  /// True when of each process all of the host's work is chosen, or nothing.
  bool ChoosesProcesses() const;
};

/// Applies the selection to every rank: row lists once, for all analyses. A rank that does not have
/// what is selected drops out; kNotFound, naming what exists, when none has it. kUsage for a time
/// range that ends before it starts.
base::Result<std::vector<RankView>> Select(const AnalysisInput& input, const Selection& selection);

/// "selection: phase decode, stream 7; 3.21 ms of 79.5 ms total (4.0 %)".
std::string SelectionText(const RankView& view, const Selection& selection);

}  // namespace layerscope::analysis
