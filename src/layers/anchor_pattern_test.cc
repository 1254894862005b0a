#include "src/layers/anchor_pattern.h"

#include <gtest/gtest.h>

namespace layerscope::layers {
namespace {

class AnchorPatternTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(float*, int)",
          "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_", "cudaLaunchKernel",
          "void ns::other_kernel<rms_norm_in_arguments>(int)"}) {
      strings_.Intern(name);
    }
  }
  size_t At(std::string_view name) const { return strings_.Find(name).index(); }
  base::Result<std::vector<uint8_t>> Match(const std::string& pattern) {
    std::vector<uint8_t> is_kernel(strings_.size(), 1);
    is_kernel[At("cudaLaunchKernel")] = 0;
    KernelNames names(strings_, is_kernel);
    return MatchAnchor(names, pattern);
  }

  trace::StringPool strings_;
};

TEST_F(AnchorPatternTest, MatchesTheKernelsOwnNameNotItsArguments) {
  const auto matches = Match("rms_norm");
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ((*matches)[At("void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(float*, int)")],
            1);
  EXPECT_EQ((*matches)[At("void ns::other_kernel<rms_norm_in_arguments>(int)")], 0);
}

TEST_F(AnchorPatternTest, FallsBackToMangledText) {
  const auto matches = Match("rmsnorm_quant_kernelIDF16bDF16bLi256E");
  ASSERT_TRUE(matches.ok()) << matches.error().message;
  EXPECT_EQ((*matches)[At("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_")], 1);
}

TEST_F(AnchorPatternTest, TakesRegularExpressions) {
  const auto matches = Match("/add_rms_?norm/");
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ((*matches)[At("void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(float*, int)")],
            1);
  EXPECT_EQ((*matches)[At("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_")], 1);
  const auto bad = Match("/(/");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, base::ErrorCode::kUsage);
}

TEST_F(AnchorPatternTest, NamesTheNormsWhenNothingMatches) {
  const auto none = Match("cudaLaunchKernel");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, base::ErrorCode::kFailed);
  EXPECT_NE(none.error().hint.find("fused_add_rms_norm_kernel"), std::string::npos);
  const auto near = Match("fused_add_rms_norm_kernl");
  ASSERT_FALSE(near.ok());
  EXPECT_NE(near.error().message.find("did you mean 'fused_add_rms_norm_kernel'"),
            std::string::npos);
}

}  // namespace
}  // namespace layerscope::layers
