#include "src/kernel_names/short_name.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/launcher.h"
#include "src/kernel_names/signature.h"

namespace layerscope::kernel_names {
namespace {

// Library names longer than this lose what follows their tile.
constexpr size_t kKeepWholeBytes = 60;
constexpr std::string_view kEllipsis = "…";

// Own names that only their namespace explains ("deep_ep::internode_ll::dispatch").
constexpr std::array<std::string_view, 8> kGenericNames = {
    "kernel", "Kernel", "globalKernel", "dispatch", "combine", "run", "forward", "backward"};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsContinuationByte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

/// One past the first "64x32" or "64x32x16" of a name; npos without one.
size_t EndOfTile(std::string_view name) {
  for (size_t at = 0; at < name.size(); ++at) {
    if (!IsDigit(name[at])) continue;
    const size_t first = SkipDigits(name, at);
    size_t end = first;
    while (end + 1 < name.size() && name[end] == 'x' && IsDigit(name[end + 1])) {
      end = SkipDigits(name, end + 1);
    }
    if (end > first) return end;
    at = first - 1;
  }
  return std::string_view::npos;
}

/// "Cijk_Alik_Bljk_BBS_BH_…_MT256x32x64_…" -> "Cijk_Alik_Bljk_BBS MT256x32x64": contraction, types,
/// macro tile (Tensile's naming; rocBLAS and hipBLASLt).
std::string ShortTensile(std::string_view name) {
  size_t head = 0;
  for (int field = 0; field < 4 && head < name.size(); ++field) {
    head = std::min(name.find('_', head + (field > 0 ? 1 : 0)), name.size());
  }
  std::string result(name.substr(0, head));
  const size_t tile = name.find("_MT");
  if (tile != std::string_view::npos) {
    const std::string_view rest = name.substr(tile + 1);
    result.append(" ").append(rest.substr(0, rest.find('_')));
  }
  return result;
}

bool IsLetterAndNumber(std::string_view word, std::string_view letters) {
  return word.starts_with(letters) && word.size() > letters.size() &&
         SkipDigits(word, letters.size()) == word.size();
}

/// Tiles and scheduling of TensorRT-LLM's generated attention kernels; types, head size, mask and
/// phase stay: "fmhaSm100a_QkvE4m3OBfloat16H64PagedKvCausalContext".
bool IsFmhaDetail(std::string_view word) {
  constexpr std::array<std::string_view, 7> kDetails = {"Kernel", "Var", "Seq",    "Persistent",
                                                        "Static", "Or",  "Chunked"};
  return std::find(kDetails.begin(), kDetails.end(), word) != kDetails.end() ||
         IsLetterAndNumber(word, "P") || IsLetterAndNumber(word, "Q") ||
         IsLetterAndNumber(word, "Kv");
}

std::string ShortFmha(std::string_view name) {
  std::string result;
  size_t begin = 0;
  while (begin < name.size()) {
    size_t end = begin + 1;
    while (end < name.size() && name[end] != '_' && (name[end] < 'A' || name[end] > 'Z')) ++end;
    const std::string_view word = name.substr(begin, end - begin);
    if (!IsFmhaDetail(word)) result += word;
    begin = end;
  }
  return result;
}

/// CuTe DSL: "kernel_cutlass_<name>_object_at__<tensor types>".
std::string ShortCuteDsl(std::string_view name) {
  name.remove_prefix(std::string_view("kernel_cutlass_").size());
  return std::string(name.substr(0, name.find("_object_at")));
}

/// Names of kernel libraries that encode their whole configuration.
std::string ShortLibraryName(std::string_view name) {
  if (name.starts_with("Cijk_")) return ShortTensile(name);
  if (name.starts_with("kernel_cutlass_")) return ShortCuteDsl(name);
  if (name.starts_with("nvjet_")) return std::string(name.substr(0, EndOfTile(name)));
  if (name.size() <= kKeepWholeBytes || name.starts_with("triton_")) return std::string(name);
  if (name.starts_with("fmhaSm")) return ShortFmha(name);
  std::string result(name.substr(0, EndOfTile(name)));
  // The fused gate of an expert's first GEMM.
  if (result.starts_with("bmm_") && name.find("swiGlu") != std::string_view::npos) {
    result += "_swiGlu";
  }
  return result;
}

std::string_view WithoutAffixes(std::string_view functor) {
  for (const std::string_view suffix : {"_kernel_cuda", "_kernel_impl", "_cuda_kernel", "_cuda_out",
                                        "CUDAKernelImpl", "_kernel", "_cuda"}) {
    if (functor.size() > suffix.size() && functor.ends_with(suffix)) {
      functor.remove_suffix(suffix.size());
      break;
    }
  }
  if (functor.starts_with("wrapped_") && functor.ends_with("_config")) {
    functor.remove_prefix(8);
    functor.remove_suffix(7);
  }
  return functor;
}

void AppendDetails(const Payload& payload, std::string& result) {
  if (!payload.tile.empty()) result.append(" ").append(payload.tile);
  if (!payload.dtype.empty()) result.append(" ").append(payload.dtype);
}

/// "vectorized_elementwise_kernel<FillFunctor bf16>" where the launcher says something too,
/// "cutlass GemmUniversal 128x128x64 bf16" where it says nothing.
std::string ShortLauncher(std::string_view own, const Payload& payload) {
  std::string result;
  if (own.find("elementwise") != std::string_view::npos || own == "reduce_kernel" ||
      own == "multi_tensor_apply_kernel") {
    result.append(own).append("<").append(WithoutAffixes(payload.name));
    AppendDetails(payload, result);
    return result + ">";
  }
  if (!payload.origin.empty()) result.append(payload.origin).append(" ");
  result += ShortLibraryName(WithoutAffixes(payload.name));
  AppendDetails(payload, result);
  return result;
}

std::string ShortSignature(const Signature& signature) {
  const std::string_view own = signature.own();
  if (IsLauncher(own)) {
    const Payload payload = FindPayload(own, signature.arguments);
    if (!payload.name.empty()) return ShortLauncher(own, payload);
  }
  const bool is_generic =
      std::find(kGenericNames.begin(), kGenericNames.end(), own) != kGenericNames.end();
  return is_generic ? signature.qualified : ShortLibraryName(own);
}

/// Keeps both ends: kernels of one family differ at the end ("…_mul_silu_2").
std::string CutMiddle(std::string name) {
  if (name.size() <= kMaxShortBytes) return name;
  size_t head = (kMaxShortBytes - kEllipsis.size()) / 2;
  size_t tail = name.size() - (kMaxShortBytes - kEllipsis.size() - head);
  while (head > 0 && IsContinuationByte(name[head])) --head;
  while (tail < name.size() && IsContinuationByte(name[tail])) ++tail;
  return name.substr(0, head).append(kEllipsis).append(name, tail);
}

}  // namespace

std::string ShortName(std::string_view name) {
  const std::string text = Demangle(name);
  const Signature signature = ParseSignature(text, name.starts_with("_Z"));
  std::string result =
      signature.is_signature ? ShortSignature(signature) : ShortLibraryName(signature.qualified);
  // Names of damaged traces hold control characters, which would break tables.
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; },
      ' ');
  return CutMiddle(std::move(result));
}

}  // namespace layerscope::kernel_names
