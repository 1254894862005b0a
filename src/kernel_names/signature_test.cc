#include "src/kernel_names/signature.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::kernel_names {
namespace {

std::string Own(std::string_view name) {
  return std::string(ParseSignature(name).own());
}

TEST(ParseSignature, SetsReturnTypeParametersAndArgumentsAside) {
  const std::string_view name = "void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, int)";
  const Signature signature = ParseSignature(name);
  EXPECT_TRUE(signature.is_signature);
  EXPECT_EQ(signature.qualified, "vllm::rms_norm_kernel");
  EXPECT_EQ(signature.own(), "rms_norm_kernel");
  EXPECT_EQ(signature.arguments, "c10::BFloat16, 8");
}

// From a real B200 trace (vLLM 0.11).
TEST(ParseSignature, KnowsComparisonsInsideParentheses) {
  EXPECT_EQ(
      Own("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
          "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)"),
      "fused_add_rms_norm_kernel");
  EXPECT_EQ(Own("void foo<((1)<(2)), 3>(int)"), "foo");
}

TEST(ParseSignature, DropsUnnamedNamespacesHoweverWritten) {
  EXPECT_EQ(ParseSignature("void (anonymous namespace)::a::f<int>(int)").qualified, "a::f");
  EXPECT_EQ(ParseSignature("void at::<unnamed>::f<float>(int, T2)").qualified, "at::f");
  EXPECT_EQ(ParseSignature("void at::{anonymous}::f(int)").qualified, "at::f");
}

TEST(ParseSignature, NamesLambdasAndCallOperatorsByWhatHoldsThem) {
  EXPECT_EQ(Own("ns::run(int)::{lambda(float)#2}::operator()(float) const"), "run");
  EXPECT_EQ(Own("ns::run(int)::[lambda(float) (instance 1)]::operator ()(float) const"), "run");
  EXPECT_EQ(Own("Functor<int>::operator()(int) const"), "Functor");
}

TEST(ParseSignature, KnowsOperators) {
  EXPECT_EQ(Own("bool ns::operator<(A const&, A const&)"), "operator<");
  EXPECT_EQ(Own("A ns::operator<<(A const&, int)"), "operator<<");
  EXPECT_EQ(Own("void f<&ns::operator<, int>(int)"), "f");
  EXPECT_EQ(Own("void f<a::operator()<b>(int)::{lambda(int)#1}>(int)"), "f");
  EXPECT_EQ(Own("void my_operator_kernel<int>(int)"), "my_operator_kernel");
}

TEST(ParseSignature, KeepsMembersOfClassTemplates) {
  const Signature signature = ParseSignature("void Outer<int>::inner<float, 2>(int) [clone .kd]");
  EXPECT_EQ(signature.qualified, "Outer::inner");
  EXPECT_EQ(signature.arguments, "float, 2");
}

TEST(ParseSignature, KeepsOtherTextWhole) {
  for (const std::string_view text :
       {"Memcpy HtoD (Pinned -> Device)", "aten::add", "triton_poi_fused_add_0",
        "autograd::engine::evaluate_function: torch::jit::(anonymous namespace)::Backward",
        "execute_context_1(888_788544)_generation_0(0)", "step[DECODE bs=32]",
        "enumerate(DataLoader)#_Iter.__next__", "(", "<", " ", "::", "a < b"}) {
    const Signature signature = ParseSignature(text);
    EXPECT_FALSE(signature.is_signature) << text;
    EXPECT_EQ(signature.own(), text);
  }
}

TEST(ParseSignature, KnowsACppSymbolWithoutBrackets) {
  EXPECT_EQ(ParseSignature("aiter::mla_dec", false).own(), "aiter::mla_dec");
  EXPECT_EQ(ParseSignature("aiter::mla_dec", true).own(), "mla_dec");
}

TEST(ParseSignature, TakesCutNames) {
  const Signature signature = ParseSignature("void at::native::elementwise_kernel<128, 4, at::na");
  EXPECT_EQ(signature.own(), "elementwise_kernel");
  EXPECT_EQ(signature.arguments, "128, 4, at::na");
  EXPECT_EQ(Own("void foo<int>(at::Tensor"), "foo");
}

TEST(ParseSignature, IsLinearOnUnbalancedBrackets) {
  constexpr size_t kBytes = size_t{4} << 20;
  for (const char c : {'<', '(', '>', ')', '[', '{', ':'}) {
    EXPECT_EQ(ParseSignature("void f<" + std::string(kBytes, c)).own().empty(), false) << c;
  }
  std::string mixed = "void f<";
  for (size_t i = 0; i < kBytes / 2; ++i) mixed += "<)";
  EXPECT_EQ(Own(mixed), "f");
}

TEST(SkipBracket, FindsThePartner) {
  EXPECT_EQ(SkipBracket("<a<b>c>d", 0), 7u);
  EXPECT_EQ(SkipBracket("(a->b)", 0), 6u);
  EXPECT_EQ(SkipBracket("<f(a<b)>", 0), 8u);
  EXPECT_EQ(SkipBracket("<a", 0), std::string_view::npos);
}

}  // namespace
}  // namespace layerscope::kernel_names
