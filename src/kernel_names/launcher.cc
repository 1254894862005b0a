#include "src/kernel_names/launcher.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/kernel_names/signature.h"

namespace layerscope::kernel_names {
namespace {

// PyTorch (ATen/native/cuda/{Loops,CUDALoops,Reduce,MultiTensorApply}.cuh), CUTLASS
// (device_kernel.h), Composable Kernel (ck_tile/host/kernel_launch.hpp), rocPRIM, CUB/Thrust.
constexpr std::array<std::string_view, 9> kLaunchers = {
    "reduce_kernel", "multi_tensor_apply_kernel", "device_kernel", "Kernel",       "Kernel2",
    "kentry",        "trampoline_kernel",         "_kernel_agent", "static_kernel"};

// Wrappers around the functor, and words of the syntax. Sorted.
constexpr std::array<std::string_view, 46> kNoPayload = {"AUnaryFunctor",
                                                         "Array",
                                                         "BUnaryFunctor",
                                                         "BinaryFunctor",
                                                         "BinaryOpListAlphaFunctor",
                                                         "BinaryOpScalarFunctor",
                                                         "BinaryOpScalarListFunctor",
                                                         "BinaryOpScalarTensorFunctor",
                                                         "CUDAGeneratorImpl",
                                                         "FusedOptimizerTensorListMetadata",
                                                         "OpaqueType",
                                                         "ReduceOp",
                                                         "T",
                                                         "T1",
                                                         "T2",
                                                         "T3",
                                                         "T4",
                                                         "TensorListMetadata",
                                                         "TensorListScalarListMetadata",
                                                         "UnaryOpFunctor",
                                                         "_cuda_scatter_gather_internal_kernel",
                                                         "anonymous",
                                                         "array",
                                                         "class",
                                                         "const",
                                                         "decltype",
                                                         "default_config",
                                                         "false",
                                                         "func_wrapper_t",
                                                         "gpu_index_kernel",
                                                         "gpu_kernel_impl",
                                                         "gpu_kernel_impl_nocast",
                                                         "gpu_kernel_with_index",
                                                         "instance",
                                                         "lambda",
                                                         "namespace",
                                                         "normal_and_transform",
                                                         "nullptr",
                                                         "operator",
                                                         "signed",
                                                         "target_arch",
                                                         "true",
                                                         "type",
                                                         "uniform_and_transform",
                                                         "unsigned",
                                                         "void"};

using TypeName = std::pair<std::string_view, std::string_view>;
// Sorted. Names as PyTorch, CUDA, HIP, CUTLASS and the demanglers write them.
constexpr std::array<TypeName, 37> kElementTypes = {{{"BFloat16", "bf16"},
                                                     {"Float8_e4m3fn", "fp8_e4m3"},
                                                     {"Float8_e4m3fnuz", "fp8_e4m3"},
                                                     {"Float8_e5m2", "fp8_e5m2"},
                                                     {"Float8_e5m2fnuz", "fp8_e5m2"},
                                                     {"Half", "fp16"},
                                                     {"_Float16", "fp16"},
                                                     {"__bf16", "bf16"},
                                                     {"__half", "fp16"},
                                                     {"__hip_bfloat16", "bf16"},
                                                     {"__hip_fp8_e4m3", "fp8_e4m3"},
                                                     {"__hip_fp8_e4m3_fnuz", "fp8_e4m3"},
                                                     {"__nv_bfloat16", "bf16"},
                                                     {"__nv_fp8_e4m3", "fp8_e4m3"},
                                                     {"__nv_fp8_e5m2", "fp8_e5m2"},
                                                     {"bfloat16_t", "bf16"},
                                                     {"bool", "bool"},
                                                     {"char", "i8"},
                                                     {"double", "fp64"},
                                                     {"float", "fp32"},
                                                     {"float_e2m1_t", "fp4"},
                                                     {"float_e4m3_t", "fp8_e4m3"},
                                                     {"float_e5m2_t", "fp8_e5m2"},
                                                     {"half", "fp16"},
                                                     {"half_t", "fp16"},
                                                     {"hip_bfloat16", "bf16"},
                                                     {"int", "i32"},
                                                     {"int4b_t", "int4"},
                                                     {"int8_t", "i8"},
                                                     {"long", "i64"},
                                                     {"mx_float4_t", "fp4"},
                                                     {"mx_float8_t", "fp8_e4m3"},
                                                     {"nv_float4_t", "fp4"},
                                                     {"short", "i16"},
                                                     {"tfloat32_t", "tf32"},
                                                     {"uint4b_t", "int4"},
                                                     {"uint8_t", "u8"}}};

static_assert(std::is_sorted(kNoPayload.begin(), kNoPayload.end()));
static_assert(std::is_sorted(kElementTypes.begin(), kElementTypes.end()));

/// FlashAttention-3 and vLLM's CUTLASS kernels stand in architecture guards:
/// "enable_sm90_or_later<…>".
bool IsNoPayload(std::string_view word) {
  return std::binary_search(kNoPayload.begin(), kNoPayload.end(), word) ||
         word.starts_with("enable_sm");
}

/// Integers index and bools select, so a later floating type says more about the data.
bool IsWeak(std::string_view dtype) {
  return dtype == "bool" || dtype.starts_with("i") || dtype.starts_with("u");
}

class PayloadFinder {
 public:
  PayloadFinder(std::string_view arguments, bool needs_float)
      : text_(arguments), needs_float_(needs_float) {}

  Payload Find() {
    while (at_ < text_.size() && !done_) Step();
    return found_;
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c >= '0' && c <= '9') {
      at_ = SkipIdentifier(text_, at_);
    } else if (IsIdentifierChar(c)) {
      Word();
    } else if (c == '(' && IsParameterList()) {
      // The types of a function's parameters say nothing about the data it works on.
      at_ = std::min(SkipBracket(text_, at_), text_.size());
    } else {
      Symbol(c);
      ++at_;
    }
  }

  /// "copy_kernel(at::TensorIteratorBase&)", but not "lambda(float)" nor "(anonymous namespace)".
  bool IsParameterList() const {
    return at_ > 0 && (IsIdentifierChar(text_[at_ - 1]) || text_[at_ - 1] == '>') &&
           last_word_ != "lambda";
  }

  void Symbol(char c) {
    if (c == '<' || c == '{' || c == '[' || c == '(') ++depth_;
    if ((c == '>' || c == '}' || c == ']' || c == ')') && depth_ > 0) --depth_;
    if (c == ',' && depth_ == 0) {
      done_ = !found_.name.empty();
      if (!done_) found_.dtype = {};
    }
    if (c != ':') origin_ = {};
  }

  void Word() {
    const size_t end = SkipIdentifier(text_, at_);
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    last_word_ = word;
    if (text_.substr(end).starts_with("::")) {
      if (origin_.empty()) origin_ = word;
      return;
    }
    Leaf(word);
    origin_ = {};
  }

  void Leaf(std::string_view word) {
    const std::string_view dtype = ElementType(word);
    if (!dtype.empty()) {
      const std::string_view rest = text_.substr(at_);
      const bool is_pointer = rest.starts_with("*") || rest.starts_with(" const*") ||
                              rest.starts_with(" *");  // char* says nothing
      const bool usable = !is_pointer && (!needs_float_ || !IsWeak(dtype));
      const bool better = found_.dtype.empty() || (found_.dtype == "bool" && !IsWeak(dtype));
      if (usable && better) found_.dtype = dtype;
      return;
    }
    if (!found_.name.empty() || IsNoPayload(word)) return;
    found_.name = word;
    found_.origin = origin_;
  }

  std::string_view text_;
  bool needs_float_;
  size_t at_ = 0;
  size_t depth_ = 0;
  bool done_ = false;
  std::string_view origin_;
  std::string_view last_word_;
  Payload found_;
};

/// "cute::C<128>, cute::C<128>, cute::C<64>" -> 128x128x64. Cluster shapes (1 or 2) come first and
/// are too small to be a tile.
std::string FindTile(std::string_view arguments) {
  constexpr size_t kSmallestTileSide = 8;
  constexpr std::string_view kConstant = "cute::C<";
  std::vector<std::string_view> sides;
  size_t expected = std::string_view::npos;
  for (size_t at = arguments.find(kConstant); at != std::string_view::npos;
       at = arguments.find(kConstant, at + 1)) {
    const size_t begin = at + kConstant.size();
    const size_t end = SkipIdentifier(arguments, begin);
    const std::string_view side = arguments.substr(begin, end - begin);
    if (at != expected) sides.clear();
    expected = end + 3;  // ">, "
    const bool is_small = side.size() == 1 && side[0] < '0' + static_cast<char>(kSmallestTileSide);
    if (is_small || side.size() > 4) {
      sides.clear();
      continue;
    }
    sides.push_back(side);
    if (sides.size() == 3) {
      return std::string(sides[0]) + "x" + std::string(sides[1]) + "x" + std::string(sides[2]);
    }
  }
  return {};
}

}  // namespace

std::string_view ElementType(std::string_view type_name) {
  const auto at = std::lower_bound(
      kElementTypes.begin(), kElementTypes.end(), type_name,
      [](const TypeName& type, std::string_view name) { return type.first < name; });
  if (at == kElementTypes.end() || at->first != type_name) return {};
  return at->second;
}

bool IsLauncher(std::string_view own_name) {
  return own_name.find("elementwise") != std::string_view::npos ||
         std::find(kLaunchers.begin(), kLaunchers.end(), own_name) != kLaunchers.end();
}

Payload FindPayload(std::string_view own_name, std::string_view arguments) {
  // Those of GEMM and attention classes begin with shapes, whose int is no element type.
  const bool is_class =
      own_name == "device_kernel" || own_name == "kentry" || own_name.starts_with("Kernel");
  Payload payload = PayloadFinder(arguments, is_class).Find();
  if (is_class) payload.tile = FindTile(arguments);
  return payload;
}

}  // namespace layerscope::kernel_names
