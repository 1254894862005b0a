#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/layer_structure.h"
#include "src/model/graph_annotations.h"
#include "src/model/model_config.h"
#include "src/replay/recording.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// A side trace that is opened when it is needed. `open` gives null when it cannot be read (who
/// gave it has said so); it may be called again and then gives the same.
struct SideFile {
  std::string path;
  std::optional<int64_t> rank;   ///< what its name says
  std::optional<int64_t> batch;  ///< what its name says
  std::function<const SideTrace*()> open;
};

/// Everything that may tell what a replayed kernel is, strongest first. Absent parts are empty.
struct Sources {
  std::optional<int64_t> rank;  ///< of this trace; recordings of the same rank are tried first
  const model::GraphAnnotations* annotations = nullptr;  ///< of this trace's rank
  std::string annotations_path;
  /// Opened one by one, the likeliest first (rank, then the step's batch, then the next larger
  /// one, then the others by nearness), until all graphs are placed.
  std::vector<SideFile> captures;
  std::vector<SideFile> eager;
  const layers::LayerStructure* layers = nullptr;  ///< for templates; null: none
  const model::ModelConfig* config = nullptr;      ///< for templates; null: none
};

/// A kind of source that was given and could not be used for graph launches.
struct WithheldSource {
  attribution::Evidence source = attribution::Evidence::kUnresolved;
  int64_t launches = 0;
  std::string why;  ///< of the first of them, one clause
};

/// Gives the activities under graph launches their modules and ops, each from the strongest source
/// that fits, and says in `attribution.alignments` what was laid over which graph, how well, and
/// what was withheld and why. A weaker source never overrides a stronger one; a source that does
/// not fit changes nothing. Activities that are not under a graph launch keep what they have.
/// Returns the kinds of sources that did not fit, strongest first.
std::vector<WithheldSource> ResolveReplays(trace::Trace& trace,
                                           attribution::Attribution& attribution,
                                           const Sources& sources);

}  // namespace layerscope::replay
