#include "src/kernel_names/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::kernel_names {
namespace {

bool Matches(std::string_view pattern, std::string_view name, bool ignore_case = false) {
  base::Result<Pattern> compiled = Pattern::Compile(pattern, ignore_case);
  EXPECT_TRUE(compiled.ok()) << pattern;
  return compiled.ok() && compiled->Matches(name);
}

TEST(Pattern, TextIsFoundAnywhere) {
  EXPECT_TRUE(Matches("gemm", "deep_gemm::fp8"));
  EXPECT_FALSE(Matches("gemm", "GEMM"));
  EXPECT_FALSE(Matches("gemm", "gem"));
}

TEST(Pattern, CaseIsIgnoredOnLowerCasedNames) {
  EXPECT_TRUE(Matches("RmsNorm", ToLower("FusedAddRMSNormKernel"), true));
  EXPECT_TRUE(Matches("/rms_?norm/", ToLower("RMS_Norm"), true));
}

TEST(Pattern, AnchorsHoldTheEnds) {
  EXPECT_TRUE(Matches("^aten::mm$", "aten::mm"));
  EXPECT_FALSE(Matches("^aten::mm$", "aten::mm_"));
  EXPECT_FALSE(Matches("^aten::mm$", "my_aten::mm"));
  EXPECT_TRUE(Matches("_norm$", "a_norm_norm"));
  EXPECT_FALSE(Matches("abc$", "bc"));
}

TEST(Pattern, StarsSpanAnything) {
  EXPECT_TRUE(Matches("^triton_*fused*mean*rsqrt", "triton_red_fused_add_mean_mul_pow_rsqrt_0"));
  EXPECT_FALSE(Matches("rsqrt*mean", "triton_red_fused_add_mean_mul_pow_rsqrt_0"));
  EXPECT_TRUE(Matches("a*b", "ab"));
  EXPECT_FALSE(Matches("ab*b", "ab"));
  EXPECT_TRUE(Matches("a*b$", "axbxb"));
  EXPECT_FALSE(Matches("^ab*b$", "ab"));
}

TEST(Pattern, RegularExpressionsAreFoundAnywhere) {
  EXPECT_TRUE(Matches("/t\\d+x\\d+/", "bmm_t128x16"));
  EXPECT_TRUE(Matches("/^bmm|gemm$/", "bmm_x"));
  EXPECT_TRUE(Matches("/^bmm|gemm$/", "x_gemm"));
  EXPECT_FALSE(Matches("/^bmm|gemm$/", "x_bmm_gemm_x"));
}

TEST(Pattern, MistakesAreUsageErrors) {
  for (const char* bad : {"", "*", "^", "$", "^*$", "/(/", "/[a/", "/a)(b/", "/*/", "/(a)\\1/",
                          "/a{1000}/", "/(a{9}){9}/"}) {
    base::Result<Pattern> pattern = Pattern::Compile(bad, false);
    ASSERT_FALSE(pattern.ok()) << bad;
    EXPECT_EQ(pattern.error().code, base::ErrorCode::kUsage);
    EXPECT_FALSE(pattern.error().hint.empty());
  }
  const std::string too_long = "/" + std::string(Pattern::kMaxRegexBytes + 1, 'a') + "/";
  EXPECT_FALSE(Pattern::Compile(too_long, false).ok());
}

// The worst that the bounds allow: neither exponential nor deep recursion.
TEST(Pattern, RegularExpressionsAreLinear) {
  const std::string name(2048, 'a');
  EXPECT_FALSE(Matches("/(a+)+b/", name));
  EXPECT_FALSE(Matches("/(a|aa)+$b/", name));
  std::string optional = "/";
  for (int i = 0; i < 60; ++i) optional += "(a?){1}";
  EXPECT_TRUE(Matches(optional + "/", name));
  std::string large = "/(";
  for (int i = 0; i < 240; ++i) large += "a?";
  EXPECT_TRUE(Matches(large + "){32}/", "aaa"));
  const std::string nested = "/" + std::string(200, '(') + "a" + std::string(200, ')') + "/";
  EXPECT_TRUE(Matches(nested, name));
}

}  // namespace
}  // namespace layerscope::kernel_names
