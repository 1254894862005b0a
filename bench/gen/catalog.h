#pragma once
// The ops and kernels of one forward pass of a dense decoder model under vLLM on an H100: names,
// shapes and how long a kernel works. Shapes depend on the number of tokens in the pass.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/options.h"

namespace layerscope::gen {

enum class CallKind : uint8_t {
  kLaunchKernel,
  kLaunchKernelExC,
  kDriverLaunchKernel,
  kDriverLaunchKernelEx,
  kGraphLaunch,
  kMemcpyAsync,
  kMemsetAsync,
  kOther,
};

struct OpSpec {
  std::string name;
  std::string shapes;  // rendered members of args, empty where shapes are not recorded
};

struct KernelSpec {
  std::string name;
  std::string geometry;  // rendered members of args
  int64_t work_ns = 0;   // time without noise and waiting
  CallKind call = CallKind::kLaunchKernel;
  bool dependent = false;  // may start before its predecessor ends
};

struct LinearSpec {
  OpSpec linear, transpose_view, transpose, as_strided, matmul, mm;
  KernelSpec gemm;
};

// A dense decoder's ops and kernels for `tokens` query tokens.
struct Catalog {
  Catalog(const Options& options, int args_depth, int64_t tokens, bool decode);

  // Ops that only look at tensors; they fill the gaps as they do in real traces.
  OpSpec view, slice, select, as_strided, empty, split, copy, to;

  OpSpec embedding, index_select;
  KernelSpec gather;
  OpSpec rms_norm, fused_add_rms_norm, head_norm;
  KernelSpec rms_norm_kernel, fused_add_rms_norm_kernel, head_norm_kernel;
  LinearSpec qkv, output, gate_up, down, lm_head;
  OpSpec rotary;
  KernelSpec rotary_kernel;
  OpSpec cache, attention, flash;
  KernelSpec cache_kernel, flash_kernel, combine_kernel;
  OpSpec silu;
  KernelSpec silu_kernel;
  OpSpec all_reduce;
  KernelSpec all_reduce_kernel;
  OpSpec index, argmax, to_float;
  KernelSpec index_kernel, argmax_kernel, to_float_kernel;
  KernelSpec slot_mapping_kernel, schedule_kernel;

 private:
  struct Tensor {
    std::vector<int64_t> dims;
    std::string_view type = "c10::BFloat16";
    std::string_view value = "";
  };
  using Size = std::array<int64_t, 3>;

  OpSpec Op(std::string_view name, const std::vector<Tensor>& inputs) const;
  KernelSpec Kernel(std::string_view name, Size grid, Size block, int registers, int64_t shared,
                    int64_t work_ns, CallKind call = CallKind::kLaunchKernel) const;
  void AddCollective(KernelSpec* kernel, int64_t elements) const;
  LinearSpec Linear(int64_t inputs, int64_t outputs, std::string_view tile) const;

  void FillViews();
  void FillNorms();
  void FillAttention();
  void FillAttentionKernels(bool decode);
  void FillFeedForward();
  void FillEnds();

  const Options& o_;
  int args_depth_;
  int64_t tokens_;
  int64_t rows_;  // tokens whose logits are wanted
};

// Nanoseconds of a kernel of `flops` and `bytes` on an H100 SXM: 640 TFLOP/s dense bf16 and
// 2.9 TB/s are what large GEMMs and copies reach of the vendor's 989 and 3.35.
int64_t RooflineNs(int64_t flops, int64_t bytes);

}  // namespace layerscope::gen
