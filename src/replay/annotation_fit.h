#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/attribution/attribution.h"
#include "src/model/graph_annotations.h"
#include "src/replay/graph_launches.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// A path with the number of its layer apart: "model.layers.7.mlp" is layer 7 of
/// "model.layers.*.mlp". Layer -1: no part of it is a number.
struct LayeredPath {
  std::string pattern;  ///< the first number replaced by `*`
  int64_t layer = -1;
};
LayeredPath SplitLayer(std::string_view path);

/// How graph annotations fit the launches of graphs.
struct AnnotationFit {
  int64_t kernels = 0;     ///< kernels that carry a graph node id
  int64_t found = 0;       ///< whose node the annotations name
  int64_t without_id = 0;  ///< kernels that carry none
  bool fits = false;
  std::string reason;  ///< why it does not; one clause
};

/// Annotations of another process, or of another capture, have other node ids, or the same ones for
/// other kernels. They fit when they name at least kEnoughAligned of the kernels, and what they say
/// can be true of what ran: along a launch the layer number does not go back and forth, a module
/// runs the same kernels in most layers, and its name is not contradicted by its kernels (a norm
/// that multiplies matrices).
AnnotationFit FitAnnotations(const trace::Trace& trace, const model::GraphAnnotations& annotations,
                             std::span<const GraphLaunch* const> launches);

}  // namespace layerscope::replay
