#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::server {

/// A pass, or where there are none a step, that has a column of its own in the Profiler.
struct ComparedInterval {
  std::string option;  ///< "pass" or "step"
  int64_t index = 0;
};

/// The fast, typical and slow pass: of the whole passes of the commonest kind, by (wall, index),
/// the ones at 10, 50 and 90 %; of steps and their phase where there are no such passes. The viewer
/// chooses by the same rule (viewer/src/profiler/three_passes.ts). Arguments are the envelopes of
/// `passes` and `steps`; of several ranks the first counts.
std::vector<ComparedInterval> ComparedIntervals(std::string_view passes, std::string_view steps);

/// The pass and the layers that the envelope of `layers` shows.
struct ShownLayers {
  std::optional<int64_t> pass;
  std::vector<int64_t> layers;
};
ShownLayers LayersShown(std::string_view layers);

/// How many levels of the tree fit into `limit` bytes (EscapedForScript), by the rows that the
/// whole envelope of `modules`, without white space, holds of each; 0: not even the roots.
int LevelsWithin(std::string_view modules, size_t limit);

/// Modules that the envelope of `modules` lists, and those of the tree in all.
struct ListedModules {
  int64_t listed = 0;
  int64_t all = 0;
};
ListedModules ModulesListed(std::string_view modules);

}  // namespace layerscope::server
