#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/rank_view.h"
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

/// Why the layers of a rank are withheld; absent where they are not. Of a CPU-only trace: that it
/// has no kernels, and which verb looks at its ops.
std::optional<table::Abstention> AbstentionOf(const RankInput& rank);

/// One pass, and in a few words why this one ("steady", "--pass 3").
struct ChosenPass {
  size_t index = 0;
  std::string why;
  std::string long_why;  ///< one sentence
};

/// The passes that come into question, 1 each, by index; empty: all.
using PassMask = std::vector<uint8_t>;

/// The pass that layer analyses show: the one of `passes`, else the steady one, else the last whole
/// one, else the last with layers, else the last; with `phase` among the passes of that kind.
/// kNotFound, naming the passes, when there is none; kUsage for several.
base::Result<ChosenPass> ChoosePass(const RankInput& rank, const std::optional<NumberRange>& passes,
                                    const std::optional<std::string>& phase,
                                    const PassMask& among = {});

/// The rows that --pass and --layer select, together.
class LayerRows {
 public:
  explicit LayerRows(const layers::LayerStructure& structure) : structure_(&structure) {}
  bool Contains(uint32_t row) const;

 private:
  /// The passes with a row that is held.
  PassMask HeldPasses(const std::vector<uint8_t>& held) const;
  /// Rows are selected, and none of them is held.
  bool IsMissedBy(const std::vector<uint8_t>& held, const PassMask& among) const;

  friend base::Result<LayerRows> ChooseLayerRows(const RankInput&,
                                                 const std::optional<NumberRange>&,
                                                 const std::optional<std::string>&,
                                                 const std::vector<uint8_t>&);
  const layers::LayerStructure* structure_;
  NumberRange passes_;
  std::optional<LayerChoice> layer_;
};

/// Without `passes`, `layer` is that of ChoosePass among the passes of which `held` has a row:
/// what the rest of the selection holds, 1 each, by row; empty: everything. kNotFound, naming what
/// exists, for a pass or a layer that is not there, or of which nothing is held.
base::Result<LayerRows> ChooseLayerRows(const RankInput& rank,
                                        const std::optional<NumberRange>& passes,
                                        const std::optional<std::string>& layer,
                                        const std::vector<uint8_t>& held = {});

/// The default pass of a view of one layer: that of ChoosePass among the passes with its rows.
base::Result<ChosenPass> PassOfView(const RankView& view);

/// "0 (prefill)", …: the passes as errors name them.
std::vector<std::string> PassNames(const layers::LayerStructure& structure);

}  // namespace layerscope::analysis
