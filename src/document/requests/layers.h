#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/document/requests/tree.h"

namespace layerscope::document {

/// One decoder layer over all requests.
struct AlignedLayer {
  int64_t index = 0;  ///< in the model, counted from 0
  std::string type;   ///< of the layers that were found; else the module's class
  std::string path;   ///< of its module; empty: not known
  /// By request, absent where the request has no such layer. GPU time is that of the layers found
  /// in the kernels, else the module's; CPU time the module's.
  std::vector<std::optional<int64_t>> gpu_ns, cpu_ns;
};

struct AlignedLayers {
  std::vector<AlignedLayer> layers;
  /// By request, where its GPU times come from: "kernels", "modules", or empty: it has no layers.
  std::vector<std::string> sources;
};

/// Layers by index. `views` and `tree` are of the same requests. Layers of draft models are left
/// out, and captures, for nothing ran in them.
AlignedLayers AlignLayers(const std::vector<analysis::RankView>& views, const AlignedTree& tree);

}  // namespace layerscope::document
