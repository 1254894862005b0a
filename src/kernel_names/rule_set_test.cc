#include "src/kernel_names/rule_set.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace layerscope::kernel_names {
namespace {

RuleSet Built(std::vector<Rule> rules) {
  base::Result<RuleSet> set = RuleSet::Build(std::move(rules));
  EXPECT_TRUE(set.ok());
  return set.ok() ? *std::move(set) : RuleSet();
}

std::string Name(const RuleSet& set, std::string_view kernel) {
  return set.category(set.Match(kernel)).name;
}

TEST(RuleSet, FirstMatchWins) {
  const RuleSet set = Built({{"a", "G", {"xy"}}, {"b", "G", {"x"}}});
  EXPECT_EQ(Name(set, "wxyz"), "a");
  EXPECT_EQ(Name(set, "wxz"), "b");
  EXPECT_EQ(Name(set, "w"), "other");
}

TEST(RuleSet, OtherIsLastAndAlwaysThere) {
  EXPECT_EQ(RuleSet().categories().size(), 1u);
  EXPECT_EQ(Name(RuleSet(), "x"), "other");
  const RuleSet set = Built({{"other", "", {"a"}}, {"b", "", {"b"}}});
  ASSERT_EQ(set.categories().size(), 2u);
  EXPECT_EQ(set.categories().back().name, "other");
  EXPECT_EQ(set.Match("a"), set.other());
  EXPECT_EQ(Name(set, "b"), "b");
}

TEST(RuleSet, OneCategoryOfSeveralRulesIsOne) {
  const RuleSet set = Built({{"gemm", "", {"a"}}, {"x", "", {"b"}}, {"gemm", "GEMM", {"c"}}});
  ASSERT_EQ(set.categories().size(), 3u);
  EXPECT_EQ(set.Match("a"), set.Match("c"));
  EXPECT_EQ(set.categories()[0].group, "GEMM");
  EXPECT_EQ(set.categories()[1].group, "other");
}

TEST(RuleSet, AlsoAndUnlessNarrow) {
  Rule rule{"c", "", {"gemm"}};
  rule.also = {"bf16", "fp16"};
  rule.unless = {"conv"};
  const RuleSet set = Built({rule});
  EXPECT_EQ(Name(set, "gemm_bf16"), "c");
  EXPECT_EQ(Name(set, "gemm"), "other");
  EXPECT_EQ(Name(set, "gemm_fp16_conv"), "other");
}

TEST(RuleSet, TemplateArgumentsCountOnlyOnRequest) {
  const std::string kernel = "void f<cutlass::gemm>(int)";
  Rule rule{"c", "", {"gemm"}};
  EXPECT_EQ(Name(Built({rule}), kernel), "other");
  rule.full_name = true;
  EXPECT_EQ(Name(Built({rule}), kernel), "c");
}

TEST(RuleSet, CaseCountsUnlessIgnored) {
  Rule rule{"c", "", {"nccl"}};
  EXPECT_EQ(Name(Built({rule}), "NCCL"), "other");
  rule.ignore_case = true;
  EXPECT_EQ(Name(Built({rule}), "NCCL"), "c");
}

TEST(RuleSet, MistakesNameTheirRule) {
  base::Result<RuleSet> set = RuleSet::Build({{"a", "", {"x"}}, {"b", "", {"/(/"}}});
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, base::ErrorCode::kUsage);
  EXPECT_TRUE(set.error().message.starts_with("rule 2 ('b'): pattern '/(/'"))
      << set.error().message;
  EXPECT_FALSE(RuleSet::Build({{"", "", {"x"}}}).ok());
  EXPECT_FALSE(RuleSet::Build({{"a", "", {}}}).ok());
}

TEST(RuleSet, TakesHostileNames) {
  Rule regex{"c", "", {"/(a+)+b/"}};
  regex.full_name = true;
  const RuleSet set = Built({regex});
  EXPECT_EQ(Name(set, std::string(1 << 20, 'a')), "other");
  EXPECT_EQ(Name(set, ""), "other");
  EXPECT_EQ(Name(set, std::string_view("\0a", 2)), "other");
}

}  // namespace
}  // namespace layerscope::kernel_names
