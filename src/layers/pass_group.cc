#include "src/layers/pass_group.h"

#include <algorithm>

namespace layerscope::layers {
namespace {

bool EndsMixing(const Token& token) {
  switch (token.traits.kind) {
    case KernelClass::kGemm:
    case KernelClass::kFfn:
    case KernelClass::kNorm:
    case KernelClass::kEmbedding:
    case KernelClass::kSampler:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool MixerRuns::Begins(const Token& token) {
  const bool begins = IsMixer(token) && !in_run_;
  in_run_ = IsMixer(token) || (in_run_ && !EndsMixing(token));
  return begins;
}

size_t CountMixerRuns(std::span<const Token> tokens) {
  MixerRuns runs;
  return static_cast<size_t>(std::count_if(tokens.begin(), tokens.end(),
                                           [&](const Token& token) { return runs.Begins(token); }));
}

}  // namespace layerscope::layers
