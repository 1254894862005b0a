#include "bench/gen/step_names.h"

namespace layerscope::gen {
namespace {

std::string N(int64_t value) {
  return std::to_string(value);
}

std::string_view Phase(const Batch& batch) {
  if (batch.context_requests == 0) return "decode";
  return batch.generation_requests == 0 ? "prefill" : "mixed";
}

// vLLM since 0.26: sums of query lengths, key lengths, their squares and products.
std::string Sums(int64_t query, int64_t keys, int64_t query_squares, int64_t products) {
  return "(sq" + N(query) + "sk" + N(keys) + "sqsq" + N(query_squares) + "sqsk" + N(products) + ")";
}

std::string VllmName(const Batch& b) {
  const int64_t squares = b.context_tokens() * b.prompt_tokens;
  const int64_t keys = b.cached_tokens + b.generation_requests;
  return "execute_" + N(b.tokens()) + "_context_" + N(b.context_requests) +
         Sums(b.context_tokens(), b.context_tokens(), squares, squares) + "_generation_" +
         N(b.generation_requests) + Sums(b.generation_requests, keys, b.generation_requests, keys);
}

std::string OldVllmName(const Batch& b, bool squares) {
  const std::string context =
      N(b.context_tokens()) +
      (squares && b.context_requests > 0 ? "_" + N(b.context_tokens() * b.prompt_tokens) : "");
  const std::string generation =
      N(b.generation_requests) +
      (squares && b.generation_requests > 0 ? "_" + N(b.generation_requests) : "");
  return "execute_context_" + N(b.context_requests) + "(" + context + ")_generation_" +
         N(b.generation_requests) + "(" + generation + ")";
}

std::string SglangName(const Batch& b) {
  if (b.context_requests == 0) return "step[DECODE bs=" + N(b.generation_requests) + "]";
  const char* mode = b.generation_requests == 0 ? "EXTEND" : "MIXED";
  return std::string("step[") + mode + " bs=" + N(b.requests()) + " toks=" + N(b.tokens()) + "]";
}

}  // namespace

Batch BatchSchedule::Next(int64_t pass) {
  Batch batch;
  const bool prefill = o_.prefill_every > 0 ? pass % o_.prefill_every == 0 : pass == 0;
  if (prefill) {
    batch.context_requests = 1;
    batch.prompt_tokens = o_.prompt_tokens;
    if (o_.mixed) batch.generation_requests = o_.requests - 1;
    cached_tokens_ = o_.requests * o_.prompt_tokens / 2;
  } else {
    batch.generation_requests = o_.requests;
    cached_tokens_ += o_.requests;
  }
  if (batch.generation_requests > 0) batch.cached_tokens = cached_tokens_;
  return batch;
}

StepName NameDraftStep(const Batch& b) {
  StepName step;
  step.name = "step[DRAFT_DECODE bs=" + N(b.generation_requests) + "]";
  step.fields.phase = "draft";
  step.fields.requests = b.generation_requests;
  return step;
}

StepName NameVerifyStep(const Batch& b) {
  constexpr int64_t kDraftTokens = 4;
  const int64_t tokens = kDraftTokens * b.generation_requests;
  StepName step;
  step.name = "step[TARGET_VERIFY bs=" + N(b.generation_requests) + " toks=" + N(tokens) + "]";
  step.fields.phase = "target_verify";
  step.fields.requests = b.generation_requests;
  step.fields.query_tokens = tokens;
  return step;
}

StepName NameStep(StepNaming naming, int64_t index, const Batch& b) {
  StepName step;
  step.fields = {Phase(b), b.requests(), b.tokens(), b.context_tokens(), b.generation_requests};
  switch (naming) {
    case StepNaming::kNone:
      break;
    case StepNaming::kProfiler:
      step.name = "ProfilerStep#" + N(index);
      step.fields = {};
      break;
    case StepNaming::kVllmOld:
      step.name = OldVllmName(b, false);
      break;
    case StepNaming::kVllmSquares:
      step.name = OldVllmName(b, true);
      break;
    case StepNaming::kVllm:
      step.name = VllmName(b);
      break;
    case StepNaming::kSglang:
      step.outer = VllmName(b);
      step.name = SglangName(b);
      break;
  }
  return step;
}

}  // namespace layerscope::gen
