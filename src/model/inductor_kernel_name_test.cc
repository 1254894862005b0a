#include "src/model/inductor_kernel_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/model/inductor_op_names.h"

namespace layerscope::model {
namespace {

using Ops = std::vector<std::string>;

Ops OpsOf(std::string_view name) {
  const std::optional<InductorKernelName> parsed = ParseInductorKernelName(name);
  return parsed ? parsed->ops : Ops{"no Inductor kernel"};
}

// Names of real traces; their operators were read by hand.
TEST(InductorKernelName, SplitsTheOperatorsOfRealNames) {
  EXPECT_EQ(OpsOf("triton_red_fused__unsafe_view_add_mean_mul_pow_rsqrt_1"),
            (Ops{"_unsafe_view", "add", "mean", "mul", "pow", "rsqrt"}));
  EXPECT_EQ(OpsOf("triton_poi_fused__unsafe_view_mul_silu_2"),
            (Ops{"_unsafe_view", "mul", "silu"}));
  EXPECT_EQ(OpsOf("triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0"),
            (Ops{"add", "bitwise_and", "bitwise_not", "bitwise_or", "ge", "lt", "mul", "sub"}));
  EXPECT_EQ(OpsOf("triton_poi_fused_constant_pad_nd_moe_forward_0"),
            (Ops{"constant_pad_nd", "moe_forward"}));
  EXPECT_EQ(OpsOf("triton_poi_fused__to_copy_1"), (Ops{"_to_copy"}));
  EXPECT_EQ(OpsOf("graph_0_cpp_fused__scaled_dot_product_flash_attention_for_cpu__to_copy__unsafe_"
                  "view_add_arange_bitwise_and_cat_clone_eq_expand_index_le_mean_mul_new_ones_pow_"
                  "rsqrt_scalar_tensor_transpose_unsqueeze_view_where_4"),
            (Ops{"_scaled_dot_product_flash_attention_for_cpu",
                 "_to_copy",
                 "_unsafe_view",
                 "add",
                 "arange",
                 "bitwise_and",
                 "cat",
                 "clone",
                 "eq",
                 "expand",
                 "index",
                 "le",
                 "mean",
                 "mul",
                 "new_ones",
                 "pow",
                 "rsqrt",
                 "scalar_tensor",
                 "transpose",
                 "unsqueeze",
                 "view",
                 "where"}));
}

TEST(InductorKernelName, TellsKindGraphAndTheNameInTheGeneratedCode) {
  const auto cpu = ParseInductorKernelName("graph_12_cpp_fused__unsafe_view_mul_silu_6");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->graph, 12);
  EXPECT_EQ(cpu->kind, "cpp");
  EXPECT_EQ(cpu->kernel, "cpp_fused__unsafe_view_mul_silu_6");
  const auto gpu = ParseInductorKernelName("triton_tem_fused_mm_3.kd");
  ASSERT_TRUE(gpu);
  EXPECT_FALSE(gpu->graph);
  EXPECT_EQ(gpu->kind, "tem");
  EXPECT_EQ(gpu->kernel, "triton_tem_fused_mm_3");
  EXPECT_FALSE(gpu->truncated);
}

// Older releases write the signature behind the number.
TEST(InductorKernelName, SetsASignatureAside) {
  const auto parsed = ParseInductorKernelName("triton_per_fused_native_layer_norm_0d1d2de");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->kernel, "triton_per_fused_native_layer_norm_0");
  EXPECT_EQ(parsed->ops, (Ops{"native_layer_norm"}));
}

TEST(InductorKernelName, KnowsKernelsWithoutOperators) {
  EXPECT_EQ(OpsOf("triton_poi_fused_0"), Ops{});
  EXPECT_EQ(OpsOf("cpp_fused_3"), Ops{});
}

TEST(InductorKernelName, LeavesOtherKernelsAlone) {
  for (const char* name : {"", "triton_", "triton__0d1d2de", "triton_mm", "fused_moe_kernel",
                           "triton_poi_", "triton_poi_fusedx_add_0", "cpp_add_0", "graph_0_add",
                           "aten::add", "triton_helpers_fused_add_0", "graph__cpp_fused_add_0"}) {
    EXPECT_FALSE(ParseInductorKernelName(name)) << name;
  }
}

TEST(InductorKernelName, PrefersTheReadingInOrderOverTheLongestName) {
  // "select_scatter" is an operator; sorted, both readings hold and the longest wins.
  EXPECT_EQ(SplitFusedOps("select_scatter_slice"), (Ops{"select_scatter", "slice"}));
  // "index_put" first: as "index", "put" it would take one more operator.
  EXPECT_EQ(SplitFusedOps("add_index_put_mul"), (Ops{"add", "index_put", "mul"}));
  // "view_as_real" is no sorted continuation of "where", but it is known; nothing is lost.
  EXPECT_EQ(SplitFusedOps("view_as_real"), (Ops{"view_as_real"}));
  // As "mean", "var_mean" the order would break; as "mean_var", … there is no such operator.
  EXPECT_EQ(SplitFusedOps("add_sub_var_mean"), (Ops{"add", "sub", "var_mean"}));
}

TEST(InductorKernelName, KeepsUnknownWordsTogether) {
  EXPECT_EQ(SplitFusedOps("add_my_custom_thing_mul"), (Ops{"add", "my_custom_thing", "mul"}));
  EXPECT_EQ(SplitFusedOps("_my_thing"), (Ops{"_my_thing"}));
  EXPECT_EQ(SplitFusedOps("add___x"), (Ops{"add", "__x"}));
  EXPECT_EQ(SplitFusedOps("add_"), (Ops{"add"}));
  EXPECT_EQ(SplitFusedOps(""), Ops{});
}

TEST(InductorKernelName, SaysWhenTheListIsCutShort) {
  const auto cut = ParseInductorKernelName("triton_red_fused_add_native_layer_nor");
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->truncated);
  EXPECT_EQ(cut->ops, (Ops{"add", "native_layer_nor"}));
  const auto hashed =
      ParseInductorKernelName("triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_1f0c9a3e_2");
  ASSERT_TRUE(hashed);
  EXPECT_TRUE(hashed->truncated);
  EXPECT_EQ(hashed->ops, (Ops{"add", "bitwise_and", "bitwise_not", "bitwise"}));
}

TEST(InductorKernelName, TakesAbsurdNames) {
  std::string name = "triton_poi_fused";
  for (int i = 0; i < 10'000; ++i) name += "_add";
  EXPECT_EQ(ParseInductorKernelName(name + "_0")->ops.size(), 10'000U);
  for (int i = 0; i < 100'000; ++i) name += "_add";
  EXPECT_EQ(ParseInductorKernelName(name + "_0")->ops.size(), 1U);
  const std::string underscores = "triton_poi_fused" + std::string(100'000, '_') + "_0";
  EXPECT_TRUE(ParseInductorKernelName(underscores));
}

TEST(InductorOpNames, AreSortedForTheSearch) {
  for (const char* name : {"_adaptive_avg_pool2d", "add", "zeros_like", "_unsafe_view", "t",
                           "native_layer_norm", "index_put", "rsqrt"}) {
    EXPECT_TRUE(IsInductorOpName(name)) << name;
  }
  EXPECT_FALSE(IsInductorOpName(""));
  EXPECT_FALSE(IsInductorOpName("_"));
  EXPECT_FALSE(IsInductorOpName("unsafe"));
}

}  // namespace
}  // namespace layerscope::model
