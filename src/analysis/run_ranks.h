#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/analysis.h"

namespace layerscope::analysis {

/// Which ranks of the run the inputs hold.
struct RunRanks {
  std::vector<int64_t> present;  ///< sorted
  /// Ranks below the world size without an input; absent when no input says the world size.
  std::optional<std::vector<int64_t>> missing;
  std::optional<int64_t> world_size;
};

RunRanks FindRanks(const AnalysisInput& input);

/// The run has several recordings, one after the other (RankInput::recording).
bool HasRecordings(const AnalysisInput& input);

/// {present, missing, world_size}, null where unknown.
table::Object ToObject(const RunRanks& ranks);
/// "0, 1 of 8; missing: 2-7".
std::string ToText(const RunRanks& ranks);

}  // namespace layerscope::analysis
