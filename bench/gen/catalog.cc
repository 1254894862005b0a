#include "bench/gen/catalog.h"

#include <algorithm>

#include "bench/gen/json_text.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr int64_t kMultiprocessors = 132;  // H100 SXM
constexpr int64_t kWarpsPerMultiprocessor = 64;
constexpr int64_t kElementBytes = 2;  // bfloat16
constexpr int64_t kKvBlocks = 29584;
constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxPositions = 40960;

// value / divisor with six decimals, as the profiler prints it.
std::string Ratio(int64_t value, int64_t divisor) {
  const int64_t scaled = value * 1000000 / divisor;
  std::string fraction = std::to_string(1000000 + scaled % 1000000).substr(1);
  while (fraction.size() > 1 && fraction.back() == '0') fraction.pop_back();
  return std::to_string(scaled / 1000000) + "." + fraction;
}

// Rendered members without the white space that their place brings.
std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin);
}

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * dims[i - 1];
  return strides;
}

void AppendInts(JsonText& json, const std::vector<int64_t>& values) {
  json.Array();
  for (const int64_t value : values) json.Int(value);
  json.EndArray();
}

}  // namespace

int64_t RooflineNs(int64_t flops, int64_t bytes) {
  constexpr int64_t kFlopsPerNs = 640000;
  constexpr int64_t kBytesPerNs = 2900;
  constexpr int64_t kFixedNs = 1600;
  return kFixedNs + std::max(flops / kFlopsPerNs, bytes / kBytesPerNs);
}

Catalog::Catalog(const Options& options, int args_depth, int64_t tokens, bool decode)
    : o_(options), args_depth_(args_depth), tokens_(tokens), rows_(std::min(tokens, o_.requests)) {
  FillViews();
  FillNorms();
  FillAttention();
  FillAttentionKernels(decode);
  FillFeedForward();
  FillEnds();
}

OpSpec Catalog::Op(std::string_view name, const std::vector<Tensor>& inputs) const {
  OpSpec op{std::string(name), ""};
  if (!o_.shapes) return op;
  JsonText json(&op.shapes, o_.layout, args_depth_);
  json.Key("Concrete Inputs").Array();
  for (const Tensor& input : inputs) json.String(input.value);
  json.EndArray().Key("Input type").Array();
  for (const Tensor& input : inputs) json.String(input.type);
  json.EndArray().Key("Input Strides").Array();
  for (const Tensor& input : inputs) AppendInts(json, ContiguousStrides(input.dims));
  json.EndArray().Key("Input Dims").Array();
  for (const Tensor& input : inputs) AppendInts(json, input.dims);
  json.EndArray();
  op.shapes = Trimmed(op.shapes);
  return op;
}

KernelSpec Catalog::Kernel(std::string_view name, Size grid, Size block, int registers,
                           int64_t shared, int64_t work_ns, CallKind call) const {
  KernelSpec kernel{std::string(name), "", work_ns, call, false};
  const int64_t blocks = grid[0] * grid[1] * grid[2];
  const int64_t warps = (block[0] * block[1] * block[2] + 31) / 32;
  const int64_t resident = blocks * warps / kMultiprocessors;
  JsonText json(&kernel.geometry, o_.layout, args_depth_);
  json.Key("registers per thread").Int(registers).Key("shared memory").Int(shared);
  json.Key("blocks per SM").Raw(Ratio(blocks, kMultiprocessors));
  json.Key("warps per SM").Raw(Ratio(blocks * warps, kMultiprocessors));
  json.Key("grid");
  AppendInts(json, {grid[0], grid[1], grid[2]});
  json.Key("block");
  AppendInts(json, {block[0], block[1], block[2]});
  json.Key("est. achieved occupancy %")
      .Int(std::min<int64_t>(100, resident * 100 / kWarpsPerMultiprocessor));
  kernel.geometry = Trimmed(kernel.geometry);
  return kernel;
}

void Catalog::AddCollective(KernelSpec* kernel, int64_t elements) const {
  std::string ranks = "[";
  for (int64_t i = 0; i < o_.tp; ++i) ranks += (i == 0 ? "" : ", ") + std::to_string(i);
  JsonText json(&kernel->geometry, o_.layout, args_depth_);
  json.Continue().Key("Collective name").String("allreduce");
  json.Key("In msg nelems").Int(elements).Key("Out msg nelems").Int(elements);
  json.Key("Group size").Int(o_.tp).Key("dtype").String("BFloat16");
  json.Key("Process Group Name").String("2").Key("Process Group Ranks").String(ranks + "]");
}

LinearSpec Catalog::Linear(int64_t inputs, int64_t outputs, std::string_view tile) const {
  const Tensor x{{tokens_, inputs}};
  const Tensor weight{{outputs, inputs}};
  const Tensor one{{}, "Scalar", "1"};
  const Tensor zero{{}, "Scalar", "0"};
  LinearSpec spec;
  spec.linear = Op("aten::linear", {x, weight, {{}, ""}});
  spec.transpose_view = Op("aten::t", {weight});
  spec.transpose = Op("aten::transpose", {weight, zero, one});
  spec.as_strided = Op(
      "aten::as_strided",
      {weight, {{}, "ScalarList", "[4096, 6144]"}, {{}, "ScalarList", "[1, 4096]"}, {{}, "", ""}});
  spec.matmul = Op("aten::matmul", {x, {{inputs, outputs}}});
  spec.mm = Op("aten::mm", {x, {{inputs, outputs}}});
  const int64_t flops = 2 * tokens_ * inputs * outputs;
  const int64_t bytes = kElementBytes * (tokens_ * inputs + inputs * outputs + tokens_ * outputs);
  spec.gemm = Kernel(tile, {kMultiprocessors, 1, 1}, {384, 1, 1}, 168, 213248,
                     RooflineNs(flops, bytes), CallKind::kDriverLaunchKernelEx);
  spec.gemm.dependent = true;
  return spec;
}

void Catalog::FillViews() {
  const Tensor x{{tokens_, o_.hidden}};
  const Tensor number{{}, "Scalar", "1"};
  const Tensor none{{}, ""};
  view = Op("aten::view", {x, {{}, "ScalarList", "[-1, 32, 128]"}});
  slice = Op("aten::slice", {x, number, number, number, number});
  select = Op("aten::select", {x, number, number});
  as_strided = Op(
      "aten::as_strided",
      {x, {{}, "ScalarList", "[1, 4096]"}, {{}, "ScalarList", "[4096, 1]"}, {{}, "Scalar", "0"}});
  empty = Op("aten::empty", {{{}, "ScalarList", "[1024, 4096]"},
                             {{}, "Scalar", "15"},
                             none,
                             {{}, "Device", ""},
                             none,
                             none});
  split =
      Op("aten::split_with_sizes", {{{tokens_, (o_.heads + 2 * o_.kv_heads) * o_.head_dim / o_.tp}},
                                    {{}, "ScalarList", "[4096, 1024, 1024]"},
                                    {{}, "Scalar", "-1"}});
  copy = Op("aten::copy_", {{{tokens_}, "int"}, {{tokens_}, "int"}, {{}, "Scalar", "True"}});
  to = Op("aten::to", {{{tokens_}, "int"}, {{}, "Scalar", "3"}, none, none, none});
}

void Catalog::FillNorms() {
  const Tensor x{{tokens_, o_.hidden}};
  const Tensor weight{{o_.hidden}};
  const Tensor epsilon{{}, "Scalar", "9.9999999999999995e-07"};
  const int64_t bytes = tokens_ * o_.hidden * kElementBytes;
  rms_norm = Op("_C::rms_norm", {x, x, weight, epsilon});
  fused_add_rms_norm = Op("_C::fused_add_rms_norm", {x, x, weight, epsilon});
  const int64_t head_rows = tokens_ * o_.heads / o_.tp;
  const Tensor head{{tokens_, o_.heads / o_.tp, o_.head_dim}};
  head_norm = Op("_C::rms_norm", {head, head, {{o_.head_dim}}, epsilon});
  rms_norm_kernel =
      Kernel(kRmsNorm, {tokens_, 1, 1}, {512, 1, 1}, 32, 128, RooflineNs(0, 2 * bytes));
  fused_add_rms_norm_kernel =
      Kernel(kFusedAddRmsNorm, {tokens_, 1, 1}, {512, 1, 1}, 32, 128, RooflineNs(0, 4 * bytes));
  head_norm_kernel = Kernel(kRmsNorm, {head_rows, 1, 1}, {128, 1, 1}, 32, 128,
                            RooflineNs(0, 2 * bytes) + head_rows / 60);
  all_reduce = Op("vllm::all_reduce", {x, {{}, "", "tp:0"}});
  const bool custom = tokens_ <= 512;  // vLLM leaves larger messages to NCCL
  all_reduce_kernel = Kernel(custom ? kCrossDeviceReduce : kNcclAllReduce, {24, 1, 1}, {512, 1, 1},
                             96, 0, 5000 + bytes / 300);
  if (!custom) AddCollective(&all_reduce_kernel, tokens_ * o_.hidden);
}

void Catalog::FillAttention() {
  const int64_t heads = o_.heads / o_.tp;
  const int64_t kv_heads = std::max<int64_t>(1, o_.kv_heads / o_.tp);
  const Tensor query{{tokens_, heads, o_.head_dim}};
  const Tensor key{{tokens_, kv_heads, o_.head_dim}};
  const Tensor pages{{kKvBlocks, kBlockSize, kv_heads, o_.head_dim}};
  const Tensor none{{}, ""};
  qkv = Linear(o_.hidden, (heads + 2 * kv_heads) * o_.head_dim,
               tokens_ <= 64 ? "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"
                             : "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT");
  output = Linear(heads * o_.head_dim, o_.hidden,
                  tokens_ <= 64 ? "nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT"
                                : "nvjet_tst_128x192_64x4_1x2_h_bz_coopB_TNT");
  rotary = Op("_C::rotary_embedding", {{{tokens_}, "long int"},
                                       {{tokens_, heads * o_.head_dim}},
                                       {{tokens_, kv_heads * o_.head_dim}},
                                       {{}, "Scalar", "128"},
                                       {{kMaxPositions, o_.head_dim}},
                                       {{}, "Scalar", "True"}});
  cache = Op("_C_cache_ops::reshape_and_cache_flash", {key,
                                                       key,
                                                       pages,
                                                       pages,
                                                       {{tokens_}, "long int"},
                                                       {{}, "", "auto"},
                                                       {{}, "float"},
                                                       {{}, "float"}});
  attention = Op("vllm::unified_attention_with_output",
                 {query, key, key, query, {{}, "", "model.layers.0.self_attn.attn"}, none, none});
  flash = Op("_vllm_fa3_C::fwd", {query,
                                  pages,
                                  pages,
                                  none,
                                  none,
                                  query,
                                  {{o_.requests + 1}, "int"},
                                  none,
                                  none,
                                  {{o_.requests}, "int"},
                                  {{o_.requests, 64}, "int"}});
}

void Catalog::FillAttentionKernels(bool decode) {
  const int64_t heads = o_.heads / o_.tp;
  const int64_t kv_heads = std::max<int64_t>(1, o_.kv_heads / o_.tp);
  const int64_t kv_row_bytes = 2 * kv_heads * o_.head_dim * kElementBytes;
  const int64_t rotary_bytes = 2 * tokens_ * (heads + kv_heads) * o_.head_dim * kElementBytes;
  rotary_kernel = Kernel(kRotary, {tokens_, 1, 1}, {512, 1, 1}, 30, 0, RooflineNs(0, rotary_bytes));
  cache_kernel = Kernel(kReshapeAndCache, {tokens_, 1, 1}, {512, 1, 1}, 36, 0,
                        RooflineNs(0, 2 * tokens_ * kv_row_bytes));
  // Causal attention of a prompt is half of tokens x tokens; a decode reads its whole cache.
  const int64_t flops = decode ? 0 : 2 * tokens_ * tokens_ * heads * o_.head_dim * 3 / 2;
  const int64_t cached = o_.requests * o_.prompt_tokens / 2 * kv_row_bytes;
  flash_kernel =
      Kernel(decode ? kFlashDecode : kFlashPrefill, {kMultiprocessors, 1, 1}, {384, 1, 1}, 168,
             229376, RooflineNs(flops, decode ? cached : 0), CallKind::kLaunchKernelExC);
  flash_kernel.dependent = true;
  combine_kernel = Kernel(kFlashCombine, {heads, rows_, 1}, {256, 1, 1}, 64, 18560, 2300,
                          CallKind::kLaunchKernelExC);
  combine_kernel.dependent = true;
  schedule_kernel = Kernel(kFlashSchedule, {1, 1, 1}, {1024, 1, 1}, 24, 68, 2100);
}

void Catalog::FillFeedForward() {
  const int64_t width = o_.intermediate / o_.tp;
  gate_up = Linear(o_.hidden, 2 * width,
                   tokens_ <= 64 ? "nvjet_tst_64x8_64x16_2x1_v_bz_TNT"
                                 : "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT");
  down = Linear(width, o_.hidden,
                tokens_ <= 64 ? "nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT"
                              : "nvjet_tst_128x192_64x4_1x2_h_bz_coopB_TNT");
  silu = Op("_C::silu_and_mul", {{{tokens_, width}}, {{tokens_, 2 * width}}});
  silu_kernel = Kernel(o_.odd_names ? kMangledSilu : kSiluAndMul, {tokens_, 1, 1}, {1024, 1, 1}, 32,
                       0, RooflineNs(0, 3 * tokens_ * width * kElementBytes));
}

void Catalog::FillEnds() {
  const int64_t vocab = o_.vocab / o_.tp;
  embedding = Op("aten::embedding", {{{vocab, o_.hidden}},
                                     {{tokens_}, "long int"},
                                     {{}, "Scalar", "-1"},
                                     {{}, "Scalar", "False"}});
  index_select = Op("aten::index_select",
                    {{{vocab, o_.hidden}}, {{}, "Scalar", "0"}, {{tokens_}, "long int"}});
  gather = Kernel(kGather, {tokens_, 2, 1}, {256, 1, 1}, 32, 0,
                  RooflineNs(0, 2 * tokens_ * o_.hidden * kElementBytes));
  index = Op("aten::index", {{{tokens_, o_.hidden}}, {{}, "TensorList", ""}});
  index_kernel = Kernel(kIndex, {rows_, 1, 1}, {128, 1, 1}, 42, 0, 2600);
  const int64_t all_tokens = tokens_;
  tokens_ = rows_;
  lm_head = Linear(o_.hidden, vocab, "nvjet_tst_192x8_64x8_4x1_v_bz_TNT");
  tokens_ = all_tokens;
  to_float = Op("aten::_to_copy", {{{rows_, vocab}}, {{}, "Scalar", "6"}, {{}, ""}, {{}, ""}});
  to_float_kernel = Kernel(kToFloat, {(rows_ * vocab + 511) / 512, 1, 1}, {128, 1, 1}, 32, 0,
                           RooflineNs(0, rows_ * vocab * 6));
  argmax = Op("aten::argmax",
              {{{rows_, vocab}, "float"}, {{}, "Scalar", "-1"}, {{}, "Scalar", "False"}});
  argmax_kernel =
      Kernel(kArgMax, {rows_, 1, 1}, {512, 1, 1}, 40, 16, 9000 + RooflineNs(0, rows_ * vocab * 4));
  slot_mapping_kernel =
      Kernel(o_.odd_names ? kOddSlotMapping : "_compute_slot_mapping_kernel",
             {o_.requests + 1, 1, 1}, {128, 1, 1}, 28, 0, 2000, CallKind::kDriverLaunchKernel);
}

}  // namespace layerscope::gen
