#include "src/analysis/display_names.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

using Names = std::vector<std::string>;

TEST(DisplayNames, ShortNamesStayWhereTheyTellKernelsApart) {
  EXPECT_EQ(DistinctNames({"void a<int>()", "void b<int>()"}, {"a", "b"}), (Names{"a", "b"}));
}

TEST(DisplayNames, WholeNamesThatAreShortTellKernelsApart) {
  EXPECT_EQ(DistinctNames({"nvjet_tst_64x8_64x16_TNT", "nvjet_tst_64x8_64x16_TNN"},
                          {"nvjet_tst_64x8", "nvjet_tst_64x8"}),
            (Names{"nvjet_tst_64x8_64x16_TNT", "nvjet_tst_64x8_64x16_TNN"}));
}

TEST(DisplayNames, OfLongNamesThePartThatDiffersIsAdded) {
  const std::string head = "void aiter::add_rmsnorm_quant_kernel<__hip_bfloat16, __hip_bfloat16, ";
  EXPECT_EQ(DistinctNames({head + "64, 8, false>(int)", head + "256, 8, false>(int)"},
                          {"rmsnorm", "rmsnorm"}),
            (Names{"rmsnorm[64]", "rmsnorm[256]"}));
}

TEST(DisplayNames, PartsThatAreCutAreNumbered) {
  const std::string head(70, 'x');
  const std::string same(50, 'y');
  EXPECT_EQ(DistinctNames({head + '<' + same + "1>", head + '<' + same + "2>"}, {"x", "x"}),
            (Names{"x[" + std::string(40, 'y') + "…]", "x[" + std::string(40, 'y') + "…] #2"}));
}

}  // namespace
}  // namespace layerscope::analysis
