#pragma once

#include <cstdint>
#include <vector>

#include "src/replay/eager_fit.h"
#include "src/replay/resolution.h"

namespace layerscope::replay {

/// Launches [begin, end) of GraphLaunches::launches.
struct LaunchRange {
  uint32_t begin = 0, end = 0;
};

/// What may be one forward among the launches of a group.
enum class Cut : uint8_t {
  kStep,    ///< all launches of an engine step
  kPeriod,  ///< the shortest run of launches that repeats (pieces of one forward)
  kLaunch,  ///< one launch
};

/// The forwards that replay graphs.
class ReplayedForwards {
 public:
  explicit ReplayedForwards(const Resolution& resolution);

  /// Cuts a group: kStep gives nothing where no step is known, kPeriod nothing where the launches
  /// do not repeat.
  std::vector<LaunchRange> Ranges(const GraphLaunches::Group& group, Cut cut) const;
  /// The rows of a forward. Of a whole step those launched beside the graphs too.
  ReplayedForward Rows(const GraphLaunches::Group& group, const LaunchRange& range, Cut cut) const;

 private:
  const Resolution& resolution_;
  std::vector<uint32_t> beside_;        ///< rows in steps and under no graph, by step
  std::vector<uint32_t> beside_begin_;  ///< by step
};

}  // namespace layerscope::replay
