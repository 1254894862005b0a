#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::model {

/// What the config says of one decoder layer. FIRST, FINAL and CUT are flags of a layer in a trace
/// and stand apart (layer_structure.h).
struct PlannedLayer {
  std::string type;              ///< "FULL+MOE", "CSA_C4+HASH+MOE": base, HASH, DENSE or MOE
  std::optional<int64_t> ratio;  ///< compress_ratios[i], where the config has them
  friend bool operator==(const PlannedLayer&, const PlannedLayer&) = default;
};

/// Experts of a model; absent numbers are not in the config.
struct ExpertConfig {
  std::optional<int64_t> n_experts;
  std::optional<int64_t> top_k;
  std::optional<int64_t> n_shared;
  std::optional<int64_t> intermediate_size;
};

/// Sparse attention's indexer (DSA, NSA, CSA).
struct IndexerConfig {
  std::optional<int64_t> heads;
  std::optional<int64_t> head_dim;  ///< else hidden_size / heads, but never with kv_lora_rank
  std::optional<int64_t> top_k;
};

/// A Hugging Face `config.json` as layerscope uses it: nested text configs flattened, identity,
/// architecture summary and one planned layer a decoder layer. Numbers that the file does not hold,
/// or holds as null, are absent.
struct ModelConfig {
  std::string path;        ///< the file it came from
  std::string name;        ///< `_name_or_path`, else made of the file or folder name
  std::string model_type;  ///< the text model's where one is nested
  std::string outer_type;  ///< the wrapper's model_type; equal to model_type without nesting
  std::vector<std::string> architectures;
  std::vector<std::string> keys;  ///< keys of the flattened config that are not null, sorted

  int64_t num_layers = 0;
  std::vector<PlannedLayer> layers;  ///< num_layers entries

  std::optional<int64_t> hidden_size;
  std::optional<int64_t> intermediate_size;
  std::optional<int64_t> num_attention_heads;
  std::optional<int64_t> num_key_value_heads;
  std::optional<int64_t> head_dim;  ///< else hidden_size / heads, but never with kv_lora_rank
  std::optional<int64_t> vocab_size;
  std::optional<int64_t> q_lora_rank;
  std::optional<int64_t> kv_lora_rank;
  std::optional<int64_t> o_lora_rank;
  std::optional<int64_t> rope_head_dim;  ///< qk_rope_head_dim
  std::optional<int64_t> nope_head_dim;  ///< qk_nope_head_dim
  std::optional<int64_t> v_head_dim;
  std::optional<int64_t> sliding_window;
  std::optional<int64_t> n_mtp_layers;       ///< num_nextn_predict_layers and its like
  std::optional<int64_t> hyper_connections;  ///< hc_mult and its like (MHC streams)
  /// "MHA", "MQA", "GQA", "MLA", "DSA", "CSA/HCA"; with linear layers "hybrid (linear + GQA)";
  /// empty when the file does not say how many heads there are.
  std::string attention;
  std::string quantization;  ///< "fp8 128x128", "nvfp4", …; empty = none is said
  std::string dtype;         ///< torch_dtype or dtype; empty = not said
  ExpertConfig experts;
  IndexerConfig indexer;

  bool HasKey(std::string_view key) const;  ///< in `keys`
};

/// A file larger than this is no config.json (the largest known has 40 kB).
inline constexpr size_t kMaxConfigBytes = size_t{4} << 20;

/// Reads the text of a config.json. `origin` names it in messages. `num_layers` (--num-layers) is
/// the layer count where the file has none. kInvalidInput: no JSON object, another kind of file (a
/// `hf_quant_config`, a tokenizer's, a safetensors index: says what it is and what to give), a
/// per-layer list of another length than the layer count (+ num_nextn_predict_layers), no layer
/// count, numbers that cannot be meant (more than kMaxConfigLayers layers), values of a wrong kind.
base::Result<ModelConfig> ParseModelConfig(std::string_view text, const std::string& origin,
                                           std::optional<int64_t> num_layers = std::nullopt);

/// Reads a config.json, or the one in a directory.
base::Result<ModelConfig> LoadModelConfig(const std::string& path,
                                          std::optional<int64_t> num_layers = std::nullopt);

}  // namespace layerscope::model
