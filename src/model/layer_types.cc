#include "src/model/layer_types.h"

#include <utility>

#include "src/model/attention_types.h"
#include "src/model/expert_layers.h"

namespace layerscope::model {

std::vector<PlannedLayer> PlanLayers(ConfigFields& fields) {
  AttentionPlan attention = PlanAttention(fields);
  const std::vector<FeedForward> feed_forward = PlanFeedForward(fields);
  const auto ratios = fields.NumberPerLayer("compress_ratios");
  if (!fields.status().ok()) return {};
  std::vector<PlannedLayer> layers;
  for (size_t i = 0; i < feed_forward.size(); ++i) {
    PlannedLayer layer{.type = std::move(attention.types[i]), .ratio = {}};
    if (ratios) layer.ratio = (*ratios)[i];
    if (feed_forward[i].hash) layer.type += "+HASH";
    if (!attention.one_block_a_layer) {
      if (feed_forward[i].kind == FeedForward::Kind::kDense) layer.type += "+DENSE";
      if (feed_forward[i].kind == FeedForward::Kind::kExperts) layer.type += "+MOE";
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace layerscope::model
