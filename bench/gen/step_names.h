#pragma once
// Names of steps as vLLM, SGLang and torch's own schedule write them, and what they say.

#include <cstdint>
#include <string>

#include "bench/gen/options.h"
#include "bench/gen/truth.h"

namespace layerscope::gen {

// One pass through the model: `context_requests` prompts of `prompt_tokens`, and
// `generation_requests` that produce one token each over `cached_tokens` (sum over requests).
struct Batch {
  int64_t context_requests = 0;
  int64_t prompt_tokens = 0;
  int64_t generation_requests = 0;
  int64_t cached_tokens = 0;

  int64_t context_tokens() const { return context_requests * prompt_tokens; }
  int64_t tokens() const { return context_tokens() + generation_requests; }
  int64_t requests() const { return context_requests + generation_requests; }
};

// Which batch each pass serves.
class BatchSchedule {
 public:
  explicit BatchSchedule(const Options& options) : o_(options) {}
  Batch Next(int64_t pass);

 private:
  const Options& o_;
  int64_t cached_tokens_ = 0;
};

struct StepName {
  std::string outer;  // SGLang: the annotation around; empty for the others
  std::string name;
  StepFields fields;
};

StepName NameStep(StepNaming naming, int64_t index, const Batch& batch);
// SGLang's speculative steps: one draft token a request, then the target over all of them.
StepName NameDraftStep(const Batch& batch);
StepName NameVerifyStep(const Batch& batch);

}  // namespace layerscope::gen
