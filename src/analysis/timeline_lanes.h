#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"
#include "src/analysis/timeline_parts.h"
#include "src/analysis/timeline_slices.h"
#include "src/layers/layer_structure.h"

namespace layerscope::analysis {

/// Lanes of one kind beyond this many are drawn as one: those with the fewest intervals.
inline constexpr size_t kMaxLanesOfKind = 128;

/// From the whole to its parts: the order of a place's lanes.
enum class LaneKind : uint8_t { kSteps, kPasses, kLayers, kBlocks, kStream };
inline constexpr size_t kLaneKinds = 5;
/// "steps", "passes", "layers", "blocks", "stream".
std::string_view ToString(LaneKind kind);

/// One row of a timeline. A step's lane is its thread's, on no device; on a trace without GPU work
/// the lanes of activities are threads, on the device "cpu".
struct TimelineLane {
  LaneKind kind = LaneKind::kStream;
  Place place;
  LabelValue stream;  ///< of kStream, and of CPU-only traces the thread; null for others
  std::string name;   ///< "stream 7", "thread 12", "layers"; "[other]" for lanes drawn as one
};

/// The lanes of a view, by rank, process, device, kind and stream, and their intervals in the
/// range. A mark's source is a row (kStream), or an index into Attribution::steps,
/// LayerStructure::passes, LayerStructure::layers, or TimelineParts::blocks.
struct TimelineLanes {
  std::vector<TimelineLane> lanes;
  std::vector<TimelineMark> marks;
  TimelineParts parts;
};

/// The lanes do not depend on the range: a lane without a mark in it is there too. `structure` may
/// be null.
TimelineLanes BuildTimelineLanes(const RankView& view, const layers::LayerStructure* structure,
                                 const TimelineRange& range);

}  // namespace layerscope::analysis
