#include "src/layers/kernel_words.h"

#include <algorithm>
#include <array>

namespace layerscope::layers {

bool IsCacheWrite(const KernelWords& name) {
  if (name.HasAny({"flash_fwd", "flash_attn", "fmha", "paged_attention", "pagedattention",
                   "attention_kernel", "batchdecode", "batchprefill", "unified_attention"})) {
    return false;
  }
  return name.HasAny(
      {"reshape_and_cache", "concat_and_cache", "cat_and_cache",   "quant_and_cache",
       "reshape_cache",     "store_kvcache",    "store_kv_cache",  "store_cache",
       "set_kv_buffer",     "mla_kv_buffer",    "kv_cache_update", "append_paged",
       "appendpaged",       "update_kv",        "updatekv",        "copy_kv",
       "write_kv",          "fused_store",      "kvcachecopy",     "fullcachekernel"});
}

bool IsBatchPreparation(const KernelWords& name) {
  return name.HasAny(
      {"kv_indices",       "page_indices",   "sparse_indices", "indices_and_lens",
       "compute_position", "clamp_position", "slot_mapping",   "metadata",
       "prepare_varlen",   "req_to_token",   "assign_req",     "get_last_loc",
       "alloc_extend",     "alloc_decode",   "prepare_inputs", "prepare_next_token",
       "advance_step",     "block_table",    "_seq_lens",      "resolve_future_token"});
}

bool HasAttentionWord(const KernelWords& name) {
  if (name.HasAny({"attn_res", "attention_residual", "attention_mask", "attn_mask"})) return false;
  static const std::array<std::string_view, 45> kWords = {"flash_fwd",
                                                          "flash_attn",
                                                          "flashattn",
                                                          "flashattention",
                                                          "flash_fprop",
                                                          "fmha",
                                                          "attention",
                                                          "attn_fwd",
                                                          "paged_attn",
                                                          "sparse_attn",
                                                          "prefix_attn",
                                                          "decode_attn",
                                                          "extend_attn",
                                                          "batchprefillwith",
                                                          "batchdecodewith",
                                                          "singleprefillwith",
                                                          "singledecodewith",
                                                          "mergestate",
                                                          "merge_state",
                                                          "merge_attn",
                                                          "sdpa",
                                                          "scaled_dot_product",
                                                          "fwd_kernel_stage",
                                                          "fwd_grouped_kernel_stage",
                                                          "mha_",
                                                          "kernel_mha",
                                                          "xqa",
                                                          "masked_multihead",
                                                          "splitkv_mla",
                                                          "flash_mla",
                                                          "flashmla",
                                                          "flash_fwd_mla",
                                                          "batchmla",
                                                          "mlakernel",
                                                          "mla_decode",
                                                          "mla_dec_",
                                                          "mla_prefill",
                                                          "mla_fwd",
                                                          "mla_reduce",
                                                          "mla_combine",
                                                          "mla_a8w8",
                                                          "mla_a16w16",
                                                          "mla_pfl",
                                                          "sparse_mla",
                                                          "::pa_"};
  if (name.own == "_fwd_kernel" || name.StartsWith("pa_") || name.StartsWith("_pa_")) return true;
  return std::any_of(kWords.begin(), kWords.end(), [&](auto word) { return name.Has(word); });
}

bool IsStateSpace(const KernelWords& name) {
  return name.HasAny({"selective_s", "chunk_scan", "chunk_state", "state_passing", "mamba",
                      "bmm_chunk", "ssd_", "ssm_"});
}

bool IsLinearAttention(const KernelWords& name) {
  return name.HasAny({"gated_delta", "delta_rule", "chunk_kda", "kda_", "_kda", "gdn",
                      "fused_recurrent", "chunk_fwd_kernel_o", "lightning_att", "linear_att",
                      "rwkv", "wkv", "chunk_gla", "retention"});
}

bool IsMixerHelper(const KernelWords& name) {
  if (name.HasAny({"mqa_logits",      "indexer",      "hadamard",
                   "causal_conv1d",   "conv1d",       "short_conv",
                   "reduce_segments", "chunk_cumsum", "chunk_local_cumsum",
                   "scaled_dot_kkt",  "solve_tril",   "merge_16x16",
                   "recompute_w_u",   "compressor",   "c4_prefill",
                   "c128_prefill",    "gdn_gating",   "kda_gate",
                   "mergestate",      "merge_state",  "merge_attn",
                   "mla_reduce",      "mla_combine"})) {
    return true;
  }
  if (!HasAttentionWord(name)) return false;
  return name.HasAny({"combine", "reduc", "merge", "stage2", "prepare", "schedul", "metadata",
                      "workspace", "postprocess", "preprocess"});
}

bool IsExperts(const KernelWords& name) {
  if (name.HasAny(
          {"moe",          "fused_experts",       "grouped_gemm",     "group_gemm",
           "gemmgrouped",  "grouped_mm",          "m_grouped",        "grouped_matmul",
           "matmul_ogs",   "finalize_matmul",     "routing",          "bitmatrix",
           "expert",       "finalizekernel",      "expandinputrows",  "ep_scatter",
           "ep_gather",    "silu_and_mul_masked", "align_block_size", "compute_problem_sizes",
           "sorttokens",   "topk_softmax",        "topk_gating",      "topkgating",
           "grouped_topk", "topk_sigmoid"})) {
    return true;
  }
  // TensorRT-LLM's generated batched GEMMs over experts, CUTLASS's grouped GEMM.
  if (name.StartsWith("bmm_") && !name.Has("bmm_chunk")) return true;
  return name.FullHas("groupproblemshape");
}

bool IsGemm(const KernelWords& name) {
  if (name.HasAny({"implicit_gemm", "igemm_fwd", "igemm_bwd", "im2col", "convolution", "conv2d",
                   "fbgemm", "gemm_sqrsum"})) {
    return false;
  }
  return name.HasAny({"gemm",       "gemv",
                      "matmul",     "cijk_",
                      "nvjet",      "xmma",
                      "splitk",     "split_k",
                      "llmm1",      "epilogue::impl",
                      "marlin",     "machete",
                      "dot_kernel", "kernel_cutlass_device_kernel",
                      "cutlass3x_", "_mm_kernel",
                      "scaled_mm",  "wvsplit",
                      "mma_kernel", "_bmm_",
                      "triton_mm",  "triton_bmm"});
}

bool IsActivation(const KernelWords& name) {
  // cuBLAS puts "relu" into names of plain GEMMs.
  if (name.HasAny({"silu", "gelu", "swiglu", "geglu", "act_and_mul", "swish", "reglu"}))
    return true;
  if (IsGemm(name)) return false;
  return name.HasAny({"<relu", "relu_", "::relu", "_relu", "relu2", "threshold_kernel"});
}

bool IsSampler(const KernelWords& name) {
  if (name.HasAny({"upsampling", "downsampling", "upsample"})) return false;
  return name.HasAny({"sampling", "argmax", "multinomial", "top_p_", "topk_topp", "top_k_top_p",
                      "min_p_", "penalt", "topprenorm", "topkrenorm", "topkmask", "token_bitmask",
                      "logprob", "rejection_", "_rejection", "gumbel", "exponential", "build_tree",
                      "verify_tree"});
}

bool IsEmbedding(const KernelWords& name) {
  return name.HasAny(
      {"embedding", "indexselect", "index_select", "vectorized_gather_kernel", "embed_"});
}

}  // namespace layerscope::layers
