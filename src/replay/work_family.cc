#include "src/replay/work_family.h"

#include <algorithm>
#include <array>

#include "src/layers/kernel_class.h"

namespace layerscope::replay {
namespace {

using layers::KernelClass;

WorkFamily FamilyOf(KernelClass kind) {
  switch (kind) {
    case KernelClass::kGemm:
      return WorkFamily::kGemm;
    case KernelClass::kMixer:
    case KernelClass::kMixerHelper:
      return WorkFamily::kAttention;
    case KernelClass::kNorm:
    case KernelClass::kInnerNorm:
      return WorkFamily::kNorm;
    case KernelClass::kFfn:
      return WorkFamily::kFeedForward;
    case KernelClass::kRope:
      return WorkFamily::kRope;
    case KernelClass::kCacheWrite:
      return WorkFamily::kCacheWrite;
    case KernelClass::kCommunication:
      return WorkFamily::kCommunication;
    case KernelClass::kEmbedding:
    case KernelClass::kQuant:
    case KernelClass::kCopy:
    case KernelClass::kElementwise:
      return WorkFamily::kElementwise;
    case KernelClass::kSampler:
    case KernelClass::kOther:
      return WorkFamily::kUnknown;
  }
  return WorkFamily::kUnknown;
}

template <size_t n>
bool IsOneOf(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// PyTorch's own operators, by their names in native_functions.yaml.
WorkFamily FamilyOfAten(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kGemms = {
      "mm", "addmm", "bmm", "baddbmm", "matmul", "linear", "_scaled_mm", "_int_mm"};
  static constexpr std::array<std::string_view, 16> kElementwise = {
      "copy_", "clone", "contiguous", "_to_copy", "to",           "fill_",  "zero_",     "add",
      "mul",   "sub",   "div",        "cat",      "index_select", "gather", "embedding", "silu"};
  if (IsOneOf(name, kGemms)) return WorkFamily::kGemm;
  if (IsOneOf(name, kElementwise)) return WorkFamily::kElementwise;
  if (name.find("attention") != std::string_view::npos) return WorkFamily::kAttention;
  return name.find("_norm") != std::string_view::npos ? WorkFamily::kNorm : WorkFamily::kUnknown;
}

}  // namespace

WorkFamily FamilyOfKernel(std::string_view kernel_name) {
  return FamilyOf(layers::ClassifyKernel(kernel_name).kind);
}

WorkFamily FamilyOfOp(std::string_view op_name) {
  constexpr std::string_view kAten = "aten::";
  if (op_name.starts_with(kAten)) return FamilyOfAten(op_name.substr(kAten.size()));
  if (NamesItsKernel(op_name)) return WorkFamily::kUnknown;
  return FamilyOfKernel(op_name);
}

bool NamesItsKernel(std::string_view op_name) {
  return op_name.starts_with("triton_");
}

}  // namespace layerscope::replay
