#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/find_layers.h"
#include "src/model/profile.h"

#include "tests/support/trace_builder.h"

namespace layerscope::layers {

/// Hand-built traces of a plain decoder for the tests of this folder. A layer is 8 kernels: norm,
/// qkv GEMM, attention, o GEMM, norm, up GEMM, activation, down GEMM; before the layers stands an
/// embedding, after them a norm, a GEMM and a sampler. So a pass of n layers has 8 n + 4 kernels,
/// layer i begins at its kernel 1 + 8 i. Kernels last 8 us and start 10 us apart.
class DecoderTrace {
 public:
  static constexpr int64_t kKernelNs = 8'000;
  static constexpr int64_t kEveryNs = 10'000;
  static constexpr size_t kPerLayer = 8;

  static std::vector<std::string> PassNames(size_t n_layers) {
    std::vector<std::string> names = {
        "void at::native::vectorized_gather_kernel<16, long>(char*, char*)"};
    for (size_t i = 0; i < n_layers; ++i) {
      names.insert(names.end(),
                   {i == 0 ? "vllm::rms_norm_kernel" : "vllm::fused_add_rms_norm_kernel",
                    "nvjet_tst_64x64_qkv", "flash_fwd_splitkv_kernel", "nvjet_tst_64x32_o",
                    "vllm::fused_add_rms_norm_kernel", "nvjet_tst_128x64_up",
                    "vllm::act_and_mul_kernel", "nvjet_tst_128x32_down"});
    }
    names.insert(names.end(), {"vllm::fused_add_rms_norm_kernel", "nvjet_tst_256x64_lm_head",
                               "void at::native::reduce_kernel<512, 1, ArgMaxOps<float>>(int)"});
    return names;
  }

  tests::TraceBuilder& build() { return build_; }
  trace::ThreadId thread() { return build_.Thread(100, 100); }
  int64_t now_ns() const { return now_ns_; }
  void Idle(int64_t ns) { now_ns_ += ns; }

  /// Launches kernels one by one, each 1 us before it runs.
  void Launch(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      build_.Call(thread(), "cudaLaunchKernel", now_ns_ - 1'000, ++correlation_);
      Run(name, correlation_);
    }
  }
  /// One graph launch of all of them.
  void Replay(const std::vector<std::string>& names) {
    build_.Call(thread(), "cudaGraphLaunch", now_ns_ - 1'000, ++correlation_);
    const int64_t correlation = correlation_;
    for (const std::string& name : names) Run(name, correlation);
  }
  /// Kernels whose launch lies before the window.
  void RunLost(const std::vector<std::string>& names) {
    for (const std::string& name : names) Run(name, ++correlation_);
  }
  /// A step around what `launch` launches.
  template <typename LaunchAll>
  void Step(std::string_view name, LaunchAll launch) {
    const int64_t from_ns = now_ns_ - 2'000;
    launch();
    build_.Annotation(thread(), name, from_ns, now_ns_ - from_ns - 5'000);
    Idle(50'000);
  }
  void Step(std::string_view name, const std::vector<std::string>& names) {
    Step(name, [&] { Launch(names); });
  }

 private:
  void Run(const std::string& name, int64_t correlation) {
    build_.Kernel(name, now_ns_, kKernelNs, correlation);
    now_ns_ += kEveryNs;
  }

  tests::TraceBuilder build_;
  int64_t now_ns_ = 1'000'000;
  int64_t correlation_ = 0;
};

/// A trace with its attribution, and layers found in it.
class FoundLayers {
 public:
  explicit FoundLayers(trace::Trace trace, LayerOptions options = {})
      : trace_(std::move(trace)), attribution_(attribution::Attribute(trace_, rules_)) {
    if (options.profile == nullptr) options.profile = model::ChooseProfile(options.config).profile;
    options_ = std::move(options);
    result_.push_back(FindLayers(trace_, attribution_, options_));
  }
  FoundLayers(const FoundLayers&) = delete;
  FoundLayers& operator=(const FoundLayers&) = delete;

  const base::Result<LayerStructure>& result() const { return result_.front(); }
  const LayerStructure& operator*() const { return *result(); }
  const LayerStructure* operator->() const { return &*result(); }
  const trace::Trace& trace() const { return trace_; }
  const attribution::Attribution& attribution() const { return attribution_; }

  /// How many rows are a layer's own.
  size_t CountIn(size_t layer) const {
    size_t n = 0;
    for (size_t row = 0; row < result()->layer.size(); ++row) {
      n +=
          result()->layer[row] == LayerId(layer) && result()->part[row] == PassPart::kLayer ? 1 : 0;
    }
    return n;
  }
  size_t CountParts(PassPart part) const {
    size_t n = 0;
    for (const PassPart of_row : result()->part) n += of_row == part ? 1 : 0;
    return n;
  }

 private:
  trace::Trace trace_;
  kernel_names::RuleSet rules_;
  attribution::Attribution attribution_;
  LayerOptions options_;
  std::vector<base::Result<LayerStructure>> result_;
};

}  // namespace layerscope::layers
