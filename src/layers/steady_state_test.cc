#include "src/layers/steady_state.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace layerscope::layers {
namespace {

struct PassSketch {
  int64_t wall_ns = 0;
  PassKind kind = PassKind::kDecode;
  std::optional<int64_t> batch = 4;
  bool complete = true;
};

/// One row a pass, its layer 0.
std::optional<size_t> SteadyOf(const std::vector<PassSketch>& sketches) {
  trace::Activities rows;
  LayerStructure structure;
  for (const PassSketch& sketch : sketches) {
    rows.start_ns.push_back(0);
    rows.dur_ns.push_back(sketch.wall_ns);
    const PassId id(structure.passes.size());
    structure.layer.push_back(LayerId(structure.layers.size()));
    structure.part.push_back(PassPart::kLayer);
    structure.pass.push_back(id);
    structure.layers.emplace_back().pass = id;
    Pass& pass = structure.passes.emplace_back();
    pass.kind = sketch.kind;
    pass.batch = sketch.batch;
    pass.complete = sketch.complete;
  }
  return FindSteadyPass(rows, structure);
}

TEST(FindSteadyPass, TakesTheFirstOfThreeWithinFivePercent) {
  EXPECT_EQ(SteadyOf({{200}, {100}, {105}, {100}, {100}}), 1U) << "105 is 4.8 % above 100";
  EXPECT_EQ(SteadyOf({{100}, {106}, {100}, {100}, {100}}), 2U) << "106 is 5.7 % above 100";
  EXPECT_EQ(SteadyOf({{100}, {95}, {100}}), 0U) << "exactly 5 %";
  EXPECT_EQ(SteadyOf({{100}, {100}}), std::nullopt);
}

TEST(FindSteadyPass, ComparesWholePassesOfOnePhaseAndBatch) {
  EXPECT_EQ(SteadyOf({{100}, {900, PassKind::kPrefill}, {100}, {900, PassKind::kPrefill}, {100}}),
            0U);
  EXPECT_EQ(SteadyOf({{100, PassKind::kDecode, 4},
                      {100, PassKind::kDecode, 8},
                      {100},
                      {100, PassKind::kDecode, 8}}),
            std::nullopt);
  EXPECT_EQ(SteadyOf({{100}, {50, PassKind::kDecode, 4, false}, {100}, {100}}), 0U);
  EXPECT_EQ(SteadyOf({{1, PassKind::kDraft}, {1, PassKind::kDraft}, {1, PassKind::kDraft}}),
            std::nullopt);
}

}  // namespace
}  // namespace layerscope::layers
