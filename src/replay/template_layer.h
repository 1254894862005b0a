#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/layers/kernel_class.h"
#include "src/replay/template_names.h"

namespace layerscope::replay {

/// A module of a decoder layer that a config implies. kLayer, kMixer and kFfn stand for the layer
/// and its halves: a kernel that no part below them explains goes there.
enum class TemplateSlot : uint8_t {
  kLayer,
  kInputNorm,
  kMixer,
  kQkvProjection,
  kQueryProjection,
  kKeyProjection,
  kValueProjection,
  kQueryNorm,
  kKeyNorm,
  kRotary,
  kAttention,
  kOutProjection,
  kPostNorm,
  kFfn,
  kRouter,
  kExperts,
  kGateUpProjection,
  kGateProjection,
  kUpProjection,
  kActivation,
  kDownProjection,
};
inline constexpr size_t kTemplateSlots = static_cast<size_t>(TemplateSlot::kDownProjection) + 1;

/// What the template reads of one kernel.
struct TemplateKernel {
  layers::KernelTraits traits;
  bool reduces_gemm = false;  ///< sums the parts of the GEMM before it (split-K)
  bool routes = false;        ///< prepares the experts' work: chooses, sorts
  bool may_norm = false;      ///< a norm of queries or keys may be in it, if only as a part
  bool norms_heads = false;   ///< says so
  bool aside = false;         ///< runs on a side stream: its place in the order says nothing
};
TemplateKernel ReadTemplateKernel(std::string_view kernel_name);

/// Lays the modules that a config implies over the kernels of one layer in launch order. `type` is
/// the config's ("FULL+MOE"). One slot a kernel; absent when a module that the config demands has
/// no kernel, or one stands where it cannot: then the layer is not what the config says, or its
/// kernels do not show it. One kernel may do the work of several modules (a norm fused with the
/// rotation, what Inductor fuses): then it stands in the part around them, and a module is missing
/// only where no kernel that stands at its place can hold it. `lacking`: the slot that is missing,
/// where it is one that a layer of the family cannot be without; else it stays as it is.
std::optional<std::vector<TemplateSlot>> LayTemplate(std::span<const TemplateKernel> kernels,
                                                     const TemplateNames& names,
                                                     std::string_view type,
                                                     TemplateSlot* lacking = nullptr);

/// The slot's path below the layer: "self_attn.qkv_proj"; empty for kLayer. `linear`: the layer's
/// mixer is the family's linear one.
std::string PathBelowLayer(TemplateSlot slot, const TemplateNames& names, bool linear);
/// True for LINEAR layers and their like.
bool IsLinearLayer(std::string_view type);

}  // namespace layerscope::replay
