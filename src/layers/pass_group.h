#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/attribution/step.h"
#include "src/layers/kernel_class.h"
#include "src/layers/layer_structure.h"
#include "src/layers/segmentation.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// One forward before it is cut into layers: what belongs to it and, in order, what runs on its
/// main stream.
struct PassGroup {
  PassKind kind = PassKind::kUnknown;
  attribution::StepId step;
  std::optional<int64_t> batch;
  std::string note;
  std::vector<Token> tokens;       ///< kernels of the main stream, by (start, file order)
  std::vector<uint32_t> others;    ///< its kernels on other streams, by (start, file order)
  bool began_before = false;       ///< its beginning lies before the window
  bool may_be_cut_last = false;    ///< nothing proves that its end lies inside the window
  bool no_order = false;           ///< all its kernels start at one time: their order is unknown
  bool few_mixers = false;         ///< too few to be worth a pass where no step says that it is one
  bool ffn_across_mixers = false;  ///< two readings without a layer count: side_ffn.h
  trace::ThreadId thread;          ///< captures: where it was recorded; tokens' rows are then calls
  int64_t start_ns = 0;            ///< of its first token

  bool is_capture() const { return kind == PassKind::kCapture; }
};

/// What each kernel name is, looked up once a name.
class NameTraits {
 public:
  explicit NameTraits(const trace::Trace& trace)
      : trace_(&trace), traits_(trace.strings.size()), known_(trace.strings.size(), 0) {}

  const KernelTraits& Of(trace::StringId name) {
    const size_t i = name.index();
    if (known_[i] == 0) {
      known_[i] = 1;
      traits_[i] = ClassifyKernel(trace_->strings[name]);
    }
    return traits_[i];
  }
  /// 1 for the names asked for so far, by StringId index.
  const std::vector<uint8_t>& known() const { return known_; }

 private:
  const trace::Trace* trace_;
  std::vector<KernelTraits> traits_;
  std::vector<uint8_t> known_;
};

inline bool IsMixer(const Token& token) {
  return token.traits.kind == KernelClass::kMixer;
}

/// Tells runs of mixers apart: a prefill may need several kernels where a decode needs one, so runs
/// are counted, not kernels. A GEMM, FFN, norm, embedding or sampler ends a run.
class MixerRuns {
 public:
  /// Does a run begin with `token`? Called for every token in order.
  bool Begins(const Token& token);

 private:
  bool in_run_ = false;
};

size_t CountMixerRuns(std::span<const Token> tokens);

}  // namespace layerscope::layers
