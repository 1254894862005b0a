#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/layers/layer_structure.h"

namespace layerscope::analysis {

inline constexpr std::string_view kHeadName = "head";
inline constexpr std::string_view kTailName = "tail";

/// First and last, both included.
using NumberRange = std::pair<int64_t, int64_t>;

/// What --layer names: layers first..last of the model, or what a pass does before or after them.
struct LayerChoice {
  layers::PassPart part = layers::PassPart::kLayer;
  int64_t first = 0;
  int64_t last = 0;
  bool single() const { return part == layers::PassPart::kLayer && first == last; }
};

/// Reads "7", "2..5", "head", "tail"; kUsage for anything else.
base::Result<LayerChoice> ParseLayerChoice(std::string_view text);

/// The layers of a rank. kFailed when they could not be sought: why, and the way out.
base::Result<const layers::LayerStructure*> StructureOf(const RankInput& rank);

/// One pass, and in a few words why this one ("steady", "--pass 3").
struct ChosenPass {
  size_t index = 0;
  std::string why;
  std::string long_why;  ///< one sentence
};

/// The pass that layer analyses show: the one of `passes`, else the steady one, else the last whole
/// one, else the last with layers, else the last; with `phase` among the passes of that kind.
/// kNotFound, naming the passes, when there is none; kUsage for several.
base::Result<ChosenPass> ChoosePass(const RankInput& rank, const std::optional<NumberRange>& passes,
                                    const std::optional<std::string>& phase);

/// The rows that --pass and --layer select, together.
class LayerRows {
 public:
  explicit LayerRows(const layers::LayerStructure& structure) : structure_(&structure) {}
  bool Contains(uint32_t row) const;

 private:
  friend base::Result<LayerRows> ChooseLayerRows(const RankInput&,
                                                 const std::optional<NumberRange>&,
                                                 const std::optional<std::string>&);
  const layers::LayerStructure* structure_;
  NumberRange passes_;
  std::optional<LayerChoice> layer_;
};

/// Without `passes`, `layer` is that of ChoosePass. kNotFound, naming what exists, for a pass or a
/// layer that is not there.
base::Result<LayerRows> ChooseLayerRows(const RankInput& rank,
                                        const std::optional<NumberRange>& passes,
                                        const std::optional<std::string>& layer);

/// "0 (prefill)", …: the passes as errors name them.
std::vector<std::string> PassNames(const layers::LayerStructure& structure);

}  // namespace layerscope::analysis
