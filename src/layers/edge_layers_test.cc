#include "src/layers/edge_layers.h"

#include <gtest/gtest.h>

namespace layerscope::layers {
namespace {

/// A pass over tokens with these names, cut at these positions.
class EdgePass {
 public:
  EdgePass(const std::vector<uint32_t>& names, const std::vector<uint32_t>& begins,
           int32_t first_index = 0) {
    for (const uint32_t name : names) group_.tokens.emplace_back().name = name;
    pass_.group = &group_;
    pass_.n_tokens = static_cast<uint32_t>(names.size());
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      pass_.layers.push_back(
          {begins[i], begins[i + 1], first_index + static_cast<int32_t>(i), false, {}});
    }
  }
  EdgePass(const EdgePass&) = delete;
  EdgePass& operator=(const EdgePass&) = delete;

  PlacedPass& Mark(const std::vector<const PlacedPass*>& references = {}) {
    MarkCutLayers(references, pass_);
    return pass_;
  }
  PassGroup& group() { return group_; }
  const PlacedPass& pass() const { return pass_; }

 private:
  PassGroup group_;
  PlacedPass pass_;
};

TEST(EdgeLayers, AFirstLayerWithoutItsBeginningIsCut) {
  EdgePass of({3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, {0, 2, 6, 10}, 5);
  of.group().began_before = true;
  const PlacedPass& pass = of.Mark();
  EXPECT_TRUE(pass.layers[0].cut);
  EXPECT_FALSE(pass.layers[1].cut);
  EXPECT_FALSE(pass.layers[2].cut);
}

TEST(EdgeLayers, ALastLayerWithoutItsEndIsCut) {
  EdgePass of({1, 2, 3, 4, 1, 2, 3, 4, 1, 2}, {0, 4, 8, 10});
  of.group().may_be_cut_last = true;
  EXPECT_TRUE(of.Mark().layers[2].cut);
}

TEST(EdgeLayers, AWholeLayerAtTheEdgeIsNotCut) {
  EdgePass of({1, 2, 3, 4, 1, 2, 3, 4}, {0, 4, 8});
  of.group().began_before = true;
  of.group().may_be_cut_last = true;
  const PlacedPass& pass = of.Mark();
  EXPECT_FALSE(pass.layers[0].cut);
  EXPECT_FALSE(pass.layers[1].cut);
}

TEST(EdgeLayers, APassInsideTheWindowHasNoCutLayers) {
  EdgePass of({3, 4, 1, 2, 3, 4, 1, 2}, {0, 2, 6, 8});
  const PlacedPass& pass = of.Mark();
  EXPECT_FALSE(pass.layers[0].cut);
  EXPECT_FALSE(pass.layers[2].cut);
}

TEST(EdgeLayers, ALayerBeforeTheTailIsNotAtTheEdge) {
  EdgePass of({1, 2, 3, 4, 1, 2, 3, 9}, {0, 4, 7});
  of.group().may_be_cut_last = true;
  EXPECT_FALSE(of.Mark().layers[1].cut) << "kernel 9 runs behind it: rule 6 ended it";
}

TEST(EdgeLayers, TheLayerOfTheSameIndexInAWholePassDecidesFirst) {
  // Layer 1 is a shorter one by its nature; layer 0 would make it look cut.
  EdgePass whole({7, 1, 2, 1, 2}, {0, 3, 5});
  EdgePass of({1, 2, 7, 1, 2}, {0, 2, 5}, 1);
  of.group().began_before = true;
  EXPECT_FALSE(of.Mark({&whole.pass()}).layers[0].cut);
}

TEST(EdgeLayers, AShorterLayerThatOpensUnlikeAllOthersIsCut) {
  EdgePass of({3, 9, 1, 2, 3, 4, 1, 2, 3, 5}, {0, 2, 6, 10});
  of.group().began_before = true;
  EXPECT_TRUE(of.Mark().layers[0].cut);
}

}  // namespace
}  // namespace layerscope::layers
