#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/layers/find_layers.h"
#include "src/layers/pass_group.h"
#include "src/layers/pass_segmenter.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// One layer of a pass, as positions in its group's tokens.
struct PlacedLayer {
  uint32_t begin = 0;
  uint32_t end = 0;
  int32_t index = 0;                  ///< in the model
  bool cut = false;                   ///< only a part of it lies in the window
  std::vector<uint32_t> block_begin;  ///< may be empty
};

/// A pass and where its layers lie.
struct PlacedPass {
  const PassGroup* group = nullptr;
  std::vector<PlacedLayer> layers;  ///< contiguous, in order; empty: none are known
  double confidence = 0;
  std::string
      kind;  ///< "boundary", "period", "repetition"; "template": another's layer laid over it
  std::optional<int64_t> anchors_per_layer;
  bool complete = false;        ///< all layers of the model, none cut
  uint32_t n_tokens = 0;        ///< of the group; what follows is outside the pass
  table::Abstention abstained;  ///< why it has no layers; code empty: it has, or nothing to say
  std::string note;

  bool is_draft() const { return group->kind == PassKind::kDraft; }
};

struct Placement {
  std::vector<PlacedPass> passes;   ///< in the order of the groups, those that are no pass left out
  std::optional<int64_t> n_layers;  ///< of the target model
  std::vector<table::HealthEntry> warnings;
};

/// Cuts every group into layers and makes passes of one model agree. Passes that a window cuts are
/// placed by alignment with whole ones. kFailed: the user's anchor does not fit.
base::Result<Placement> PlacePasses(const trace::Trace& trace, const std::vector<PassGroup>& groups,
                                    const LayerOptions& options, AnchorSource source);

}  // namespace layerscope::layers
