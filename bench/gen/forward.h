#pragma once
// One forward pass of a dense decoder model as vLLM runs it: module scopes, Python frames, ops and
// the kernels they launch.

#include <cstdint>
#include <vector>

#include "bench/gen/catalog.h"
#include "bench/gen/cpu_thread.h"
#include "bench/gen/options.h"

namespace layerscope::gen {

class Forward {
 public:
  Forward(const Options& options, CpuThread* thread, int64_t main_stream, int64_t side_stream)
      : o_(options), t_(*thread), main_stream_(main_stream), side_stream_(side_stream) {}

  // From embedding to final norm. `decode` attention splits and combines.
  void Run(const Catalog& catalog, bool decode);
  // The same kernels as graph replays: one, or one a piece between attentions.
  void Replay(const Catalog& catalog, bool piecewise);
  void ComputeLogits(const Catalog& catalog);
  void Sample(const Catalog& catalog);

 private:
  struct ModuleFrames;

  void Embed(const Catalog& c);
  void Layer(const Catalog& c, int64_t layer, bool decode);
  void Attention(const Catalog& c, int64_t layer, bool decode);
  void PagedAttention(const Catalog& c, int64_t layer, bool decode);
  void AttentionOp(const Catalog& c, bool decode);
  void FeedForward(const Catalog& c, int64_t layer);
  void Norm(const Catalog& c, int64_t instance, const OpSpec& op, const KernelSpec& kernel);
  void Rotary(const Catalog& c);
  void Linear(const Catalog& c, const char* module_class, int64_t instance,
              const LinearSpec& linear);
  void Gemm(const LinearSpec& linear);
  void AllReduce(const Catalog& c);
  void CustomOp(std::string_view builtin, const OpSpec& op, const KernelSpec& kernel,
                int64_t stream);
  void LaunchPiece();

  const Options& o_;
  CpuThread& t_;
  int64_t main_stream_;
  int64_t side_stream_;
  bool piecewise_ = false;
};

}  // namespace layerscope::gen
