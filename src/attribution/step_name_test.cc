#include "src/attribution/step_name.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace layerscope::attribution {
namespace {

// Names as in formats/kineto.md and in real vLLM and SGLang traces; figures read from them by hand.

StepFields Fields(std::string_view name, StepFamily family) {
  const ParsedStep parsed = ParseStepName(name);
  EXPECT_EQ(parsed.family, family) << name;
  return parsed.fields;
}

StepFields Vllm(std::string_view name) {
  return Fields(name, StepFamily::kVllm);
}
StepFields Sglang(std::string_view name) {
  return Fields(name, StepFamily::kSglang);
}

TEST(StepName, VllmRequestsAndTokens) {
  const StepFields fields = Vllm("execute_context_2(40)_generation_3(3)");
  EXPECT_EQ(fields.phase, Phase::kMixed);
  EXPECT_EQ(fields.requests, 5);
  EXPECT_EQ(fields.query_tokens, 43);
  EXPECT_EQ(fields.context_requests, 2);
  EXPECT_EQ(fields.context_tokens, 40);
  EXPECT_EQ(fields.generation_requests, 3);
  EXPECT_EQ(fields.generation_tokens, 3);
  EXPECT_EQ(fields.sum_q2, std::nullopt);
  EXPECT_EQ(fields.sum_kv, std::nullopt);
  EXPECT_EQ(fields.number, std::nullopt);
}

TEST(StepName, VllmPhaseFollowsFromTheRequests) {
  EXPECT_EQ(Vllm("execute_context_1(6)_generation_0(0)").phase, Phase::kPrefill);
  EXPECT_EQ(Vllm("execute_context_0(0)_generation_1(1)").phase, Phase::kDecode);
  EXPECT_EQ(Vllm("execute_context_0(0)_generation_0(0)").phase, Phase::kUnknown);
}

TEST(StepName, VllmWithSquares) {
  const StepFields fields = Vllm("execute_context_1(888_788544)_generation_0(0)");
  EXPECT_EQ(fields.context_tokens, 888);
  EXPECT_EQ(fields.generation_tokens, 0);
  EXPECT_EQ(fields.sum_q2, 788544);
  EXPECT_EQ(fields.n_out_of_range, 0);
}

TEST(StepName, VllmWithAllSums) {
  const StepFields fields = Vllm(
      "execute_42_context_1(sq10sk20sqsq100sqsk200)_generation_32(sq32sk55086sqsq32sqsk55086)");
  EXPECT_EQ(fields.phase, Phase::kMixed);
  EXPECT_EQ(fields.requests, 33);
  EXPECT_EQ(fields.query_tokens, 42);
  EXPECT_EQ(fields.sum_kv, 55106);
  EXPECT_EQ(fields.sum_q2, 132);
  EXPECT_EQ(fields.sum_qkv, 55286);
}

TEST(StepName, NumbersThatOverflowedAreDroppedAndCounted) {
  const StepFields negative =
      Vllm("execute_9_context_1(sq9sk9sqsq-81sqsk81)_generation_0(sq0sk0sqsq0sqsk0)");
  EXPECT_EQ(negative.sum_q2, std::nullopt);
  EXPECT_EQ(negative.sum_qkv, 81);
  EXPECT_EQ(negative.query_tokens, 9);
  EXPECT_EQ(negative.n_out_of_range, 1);

  const StepFields huge = Vllm("execute_context_1(9007199254740993)_generation_1(1)");
  EXPECT_EQ(huge.context_tokens, std::nullopt);
  EXPECT_EQ(huge.query_tokens, std::nullopt);
  EXPECT_EQ(huge.requests, 2);
  EXPECT_EQ(huge.n_out_of_range, 1);

  // Whole lengths that add up to s have squares that add up to s at least and s * s at most.
  EXPECT_EQ(Vllm("execute_context_1(70000_69999)_generation_0(0)").sum_q2, std::nullopt);
  EXPECT_EQ(Vllm("execute_context_1(10_101)_generation_0(0)").sum_q2, std::nullopt);
  EXPECT_EQ(Vllm("execute_context_2(10_50)_generation_0(0)").sum_q2, 50);
}

TEST(StepName, DigitsBeyondInt64AreOutOfRangeToo) {
  const StepFields fields = Vllm("execute_context_1(99999999999999999999999)_generation_0(0)");
  EXPECT_EQ(fields.context_tokens, std::nullopt);
  EXPECT_EQ(fields.n_out_of_range, 1);
}

TEST(StepName, UnknownExecuteNamesAreStepsThatSayNothing) {
  for (const char* name : {"execute_model", "execute_", "execute_context_1", "execute_7",
                           "execute_context_1(6)_generation_0(0", "execute_context_x(6)"}) {
    const StepFields fields = Vllm(name);
    EXPECT_EQ(fields.phase, Phase::kUnknown) << name;
    EXPECT_EQ(fields.requests, std::nullopt) << name;
    EXPECT_EQ(fields.query_tokens, std::nullopt) << name;
  }
}

TEST(StepName, SglangDecode) {
  const StepFields fields = Sglang("step[DECODE bs=32]");
  EXPECT_EQ(fields.phase, Phase::kDecode);
  EXPECT_EQ(fields.requests, 32);
  EXPECT_EQ(fields.generation_tokens, 32);
  EXPECT_EQ(fields.query_tokens, 32);
  EXPECT_EQ(fields.context_tokens, std::nullopt);
  EXPECT_EQ(Sglang("step[DECODE bs=32 toks=64]").generation_tokens, 64);
}

TEST(StepName, SglangExtend) {
  const StepFields fields = Sglang("step[EXTEND bs=15 toks=15360]");
  EXPECT_EQ(fields.phase, Phase::kPrefill);
  EXPECT_EQ(fields.requests, 15);
  EXPECT_EQ(fields.query_tokens, 15360);
  EXPECT_EQ(fields.context_tokens, 15360);
  EXPECT_EQ(fields.generation_tokens, std::nullopt);
}

TEST(StepName, SglangModesMapToPhases) {
  EXPECT_EQ(Sglang("step[MIXED bs=3 toks=40]").phase, Phase::kMixed);
  EXPECT_EQ(Sglang("step[TARGET_VERIFY bs=8 toks=32]").phase, Phase::kTargetVerify);
  EXPECT_EQ(Sglang("step[TARGET_VERIFY bs=8 toks=32]").query_tokens, 32);
  EXPECT_EQ(Sglang("step[DRAFT_DECODE bs=8]").phase, Phase::kDraft);
  EXPECT_EQ(Sglang("step[DRAFT_EXTEND bs=8 toks=16]").phase, Phase::kDraft);
  EXPECT_EQ(Sglang("step[SOMETHING_NEW bs=8]").phase, Phase::kUnknown);
  EXPECT_EQ(Sglang("step[SOMETHING_NEW bs=8]").requests, 8);
}

TEST(StepName, SglangSurvivesWhatItDoesNotKnow) {
  EXPECT_EQ(Sglang("step[").phase, Phase::kUnknown);
  EXPECT_EQ(Sglang("step[DECODE").phase, Phase::kDecode);
  EXPECT_EQ(Sglang("step[DECODE bs=x new=3, toks=5]").query_tokens, 5);
  EXPECT_EQ(Sglang("step[DECODE bs=-3]").requests, std::nullopt);
  EXPECT_EQ(Sglang("step[DECODE bs=-3]").n_out_of_range, 1);
  EXPECT_EQ(Sglang("step[DECODE bs=0x40]").requests, std::nullopt);
  EXPECT_EQ(Sglang("step[EXTEND bs=2 toks=1e3]").query_tokens, std::nullopt);
}

TEST(StepName, BenchSteps) {
  const StepFields fields = Fields("bench_step::3::bs::8::past::1024", StepFamily::kBench);
  EXPECT_EQ(fields.bench_number, 3);
  EXPECT_EQ(fields.number, std::nullopt);
  EXPECT_EQ(fields.requests, 8);
  EXPECT_EQ(fields.past, 1024);
  EXPECT_EQ(fields.phase, Phase::kUnknown);
  EXPECT_EQ(Fields("bench_step::3::bs::8", StepFamily::kBench).past, std::nullopt);
}

TEST(StepName, BenchStepsMayHaveFurtherFields) {
  const StepFields fields =
      Fields("bench_step::3::kind::warm::past::64::phase::decode::bs::8::x", StepFamily::kBench);
  EXPECT_EQ(fields.requests, 8);
  EXPECT_EQ(fields.past, 64);
  EXPECT_EQ(fields.phase, Phase::kDecode);
  EXPECT_EQ(Fields("bench_step::3::bs::8::phase::prefill", StepFamily::kBench).phase,
            Phase::kPrefill);
  EXPECT_EQ(Fields("bench_step::3::bs::8::phase::idle", StepFamily::kBench).phase, Phase::kUnknown);
}

TEST(StepName, BenchFieldsThatAreNoWholeNumberAreUnknownAndCounted) {
  for (const char* value : {"1e3", "0x40", "12abc", "1.9", "x", "", " 5", "-60", "9007199254740993",
                            "9223372036854775808"}) {
    const StepFields fields =
        Fields(std::string("bench_step::3::past::") + value + "::bs::8", StepFamily::kBench);
    EXPECT_EQ(fields.past, std::nullopt) << value;
    EXPECT_EQ(fields.requests, 8) << value;
    EXPECT_EQ(fields.n_out_of_range, 1) << value;
  }
  const StepFields number = Fields("bench_step::3a::bs::8::past::0", StepFamily::kBench);
  EXPECT_EQ(number.bench_number, std::nullopt);
  EXPECT_EQ(number.past, 0);
  EXPECT_EQ(number.n_out_of_range, 1);
}

TEST(StepName, BenchRequestsAreAtLeastOneAndFitTheEnginesInt32) {
  for (const char* value : {"0", "4294967296", "2147483648", "8.5"}) {
    const StepFields fields =
        Fields(std::string("bench_step::3::bs::") + value + "::past::7", StepFamily::kBench);
    EXPECT_EQ(fields.requests, std::nullopt) << value;
    EXPECT_EQ(fields.past, 7) << value;
    EXPECT_EQ(fields.n_out_of_range, 1) << value;
  }
  EXPECT_EQ(Fields("bench_step::3::bs::2147483647", StepFamily::kBench).requests, 2147483647);
}

TEST(StepName, TensorRtForwardSteps) {
  // As TensorRT-LLM's py_executor wrote them, oldest first: no number, no tokens, "tokens", "tks".
  const StepFields oldest =
      Fields("[Executor] _forward_step: 2 ctx reqs, 3 gen reqs", StepFamily::kTensorRt);
  EXPECT_EQ(oldest.phase, Phase::kMixed);
  EXPECT_EQ(oldest.number, std::nullopt);
  EXPECT_EQ(oldest.requests, 5);
  EXPECT_EQ(oldest.context_tokens, std::nullopt);
  EXPECT_EQ(oldest.query_tokens, std::nullopt);
  const StepFields decode =
      Fields("[Executor] _forward_step 60000: 0 ctx reqs, 32 gen reqs", StepFamily::kTensorRt);
  EXPECT_EQ(decode.phase, Phase::kDecode);
  EXPECT_EQ(decode.number, 60000);
  EXPECT_EQ(decode.context_tokens, 0);
  EXPECT_EQ(decode.generation_tokens, 32);
  EXPECT_EQ(decode.query_tokens, 32);
  for (const char* name : {"[Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 0 gen reqs",
                           "[Executor] _forward_step 7: 1 ctx reqs, 512 ctx tks, 0 gen reqs"}) {
    const StepFields prefill = Fields(name, StepFamily::kTensorRt);
    EXPECT_EQ(prefill.phase, Phase::kPrefill) << name;
    EXPECT_EQ(prefill.context_tokens, 512) << name;
    EXPECT_EQ(prefill.query_tokens, 512) << name;
  }
  EXPECT_EQ(Fields("[Executor] _forward_step 7: soon", StepFamily::kTensorRt).phase,
            Phase::kUnknown);
  EXPECT_EQ(ParseStepName("[Executor] _forward_step_last_pp").family, StepFamily::kNone);
}

TEST(StepName, ProfilerStepsHaveOnlyANumber) {
  const StepFields fields = Fields("ProfilerStep#12", StepFamily::kProfiler);
  EXPECT_EQ(fields.number, 12);
  EXPECT_EQ(fields.phase, Phase::kUnknown);
  EXPECT_EQ(fields.requests, std::nullopt);
  EXPECT_EQ(Fields("ProfilerStep#12abc", StepFamily::kProfiler).number, std::nullopt);
}

TEST(StepName, CapturesAreTold) {
  EXPECT_EQ(ParseStepName("capture_32_FULL").family, StepFamily::kCapture);
  EXPECT_EQ(ParseStepName("capture_8_DECODE").family, StepFamily::kCapture);
  EXPECT_EQ(ParseStepName("capture_8").family, StepFamily::kCapture);
  EXPECT_EQ(ParseStepName("capture_output").family, StepFamily::kNone);
}

TEST(StepName, OtherAnnotationsAreNoSteps) {
  for (const char* name : {"", "## Call CompiledFxGraph ##", "Optimizer.step#Adam.step", "step:0",
                           "nccl:all_reduce", "my_execute_context_1(6)_generation_0(0)"}) {
    EXPECT_EQ(ParseStepName(name).family, StepFamily::kNone) << name;
  }
}

TEST(MergeFields, TheInnerWinsAndUnknownIsFilled) {
  StepFields inner = Sglang("step[DECODE bs=32]");
  MergeFields(inner, Vllm("execute_context_0(0)_generation_30(30)"));
  EXPECT_EQ(inner.phase, Phase::kDecode);
  EXPECT_EQ(inner.requests, 32);
  EXPECT_EQ(inner.context_tokens, 0);
  EXPECT_EQ(inner.generation_tokens, 32);
}

TEST(MergeFields, RequestsThatTheInnerStatesWronglyStayUnknown) {
  StepFields inner = Fields("bench_step::1::bs::x::past::5", StepFamily::kBench);
  MergeFields(inner, Vllm("execute_context_0(0)_generation_30(30)"));
  EXPECT_EQ(inner.requests, std::nullopt);
  EXPECT_EQ(inner.generation_requests, 30);
  EXPECT_EQ(inner.phase, Phase::kDecode);
  StepFields silent = Fields("bench_step::1::past::5", StepFamily::kBench);
  MergeFields(silent, Vllm("execute_context_0(0)_generation_30(30)"));
  EXPECT_EQ(silent.requests, 30);
}

}  // namespace
}  // namespace layerscope::attribution
