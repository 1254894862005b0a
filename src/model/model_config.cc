#include "src/model/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "src/io/small_file.h"
#include "src/json/document.h"
#include "src/model/attention_name.h"
#include "src/model/config_fields.h"
#include "src/model/config_kind.h"
#include "src/model/expert_layers.h"
#include "src/model/foreign_bytes.h"
#include "src/model/layer_types.h"
#include "src/model/quantization.h"

namespace layerscope::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGive =
    "give the config.json of the model, or the folder in which it lies";

/// "Qwen--Qwen3-8B_config.json" and ".../models--Qwen--Qwen3-8B/snapshots/<hash>/config.json" are
/// Qwen/Qwen3-8B; ".../Qwen3-8B/config.json" is Qwen3-8B.
std::string NameOfPath(const std::string& path) {
  const fs::path file(path);
  std::string name = file.stem().string();
  if (name == "config" || name.empty()) {
    fs::path folder = file.parent_path();
    if (folder.parent_path().filename() == "snapshots") {
      folder = folder.parent_path().parent_path();
    }
    name = folder.filename().string();
    if (name == "." || name == "..") name.clear();
  }
  constexpr std::string_view kSuffix = "_config";
  constexpr std::string_view kCache = "models--";
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  if (name.starts_with(kCache)) name.erase(0, kCache.size());
  if (const size_t dashes = name.find("--"); dashes != std::string::npos) {
    name.replace(dashes, 2, "/");
  }
  return name;
}

void ReadIdentity(ConfigFields& fields, ModelConfig& config) {
  config.model_type = fields.InnerType();
  config.outer_type = fields.OuterType();
  config.architectures = fields.Architectures();
  config.keys = fields.Keys();
  config.name = fields.Text({"_name_or_path"}).value_or("");
  if (config.name.empty()) config.name = NameOfPath(config.path);
}

/// Sets num_layers; false when there is none or it cannot be meant.
bool ReadLayerCount(ConfigFields& fields, std::optional<int64_t> num_layers, ModelConfig& config) {
  const std::optional<int64_t> stated =
      fields.Number({"num_hidden_layers", "num_layers", "n_layer", "n_layers"});
  const std::optional<int64_t> count = stated ? stated : num_layers;
  if (!count) {
    fields.Mistake("num_hidden_layers",
                   "the file does not say how many layers the model has; --num-layers N does");
    return false;
  }
  if (*count < 1 || *count > kMaxConfigLayers) {
    fields.Mistake("num_hidden_layers", fmt::format("{} layers cannot be meant (1 to {} can)",
                                                    *count, kMaxConfigLayers));
    return false;
  }
  config.num_layers = *count;
  config.n_mtp_layers = fields.Number({"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                       "num_mtp_modules", "num_mtp_layers", "n_mtp_layers"});
  fields.SetLayerCount(*count, fields.Number({"num_nextn_predict_layers"}).value_or(0));
  return true;
}

void ReadDimensions(ConfigFields& fields, ModelConfig& config) {
  config.hidden_size = fields.Number({"hidden_size", "n_embd", "d_model", "dim"});
  config.intermediate_size =
      fields.Number({"intermediate_size", "ffn_hidden_size", "n_inner", "d_ff", "inner_dim"});
  config.num_attention_heads =
      fields.Number({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  config.num_key_value_heads =
      fields.Number({"num_key_value_heads", "num_kv_heads", "n_kv_heads", "multi_query_group_num"});
  config.head_dim = fields.Number({"head_dim", "attention_head_dim", "kv_channels"});
  config.vocab_size = fields.Number({"vocab_size", "padded_vocab_size"});
  config.q_lora_rank = fields.Positive({"q_lora_rank"});
  config.kv_lora_rank = fields.Positive({"kv_lora_rank"});
  config.o_lora_rank = fields.Positive({"o_lora_rank"});
  config.rope_head_dim = fields.Number({"qk_rope_head_dim"});
  config.nope_head_dim = fields.Number({"qk_nope_head_dim"});
  config.v_head_dim = fields.Number({"v_head_dim"});
  if (fields.Flag("use_sliding_window").value_or(true)) {
    config.sliding_window =
        fields.Positive({"sliding_window", "sliding_window_size", "attention_window_size"});
  }
  config.hyper_connections = fields.Positive({"hc_mult", "hc_count", "mhc_num_residual_streams"});
  const int64_t heads = config.num_attention_heads.value_or(0);
  if (!config.head_dim && !config.kv_lora_rank && config.hidden_size && heads > 0 &&
      *config.hidden_size % heads == 0) {
    config.head_dim = *config.hidden_size / heads;
  }
}

void ReadExperts(ConfigFields& fields, ModelConfig& config) {
  const int64_t n_experts = CountExperts(fields);
  if (n_experts == 0) return;
  ExpertConfig& experts = config.experts;
  experts.n_experts = n_experts;
  experts.top_k =
      fields.Number({"num_experts_per_tok", "num_experts_per_token", "experts_per_token",
                     "top_k_experts", "moe_topk", "moe_top_k", "moe_k", "num_selected_experts"});
  experts.n_shared = fields.Number(
      {"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"});
  experts.intermediate_size = fields.Number({"moe_intermediate_size", "expert_ffn_hidden_size",
                                             "moe_ffn_hidden_size", "expert_intermediate_size"});
  // Qwen's MoE models count no shared expert; they give the width of the one that they have.
  if (!experts.n_shared && fields.Positive({"shared_expert_intermediate_size"})) {
    experts.n_shared = 1;
  }
  // Mixtral, Llama-4, gpt-oss: the one width of the file is the experts'.
  if (!experts.intermediate_size) experts.intermediate_size = config.intermediate_size;
  // Llama-4's dense layers have a width of their own.
  if (const auto dense = fields.Positive({"intermediate_size_mlp"})) {
    config.intermediate_size = dense;
  }
}

void ReadIndexer(ConfigFields& fields, ModelConfig& config) {
  config.indexer.heads = fields.Positive({"index_n_heads", "indexer_n_heads"});
  config.indexer.head_dim = fields.Positive({"index_head_dim", "indexer_head_dim"});
  config.indexer.top_k = fields.Positive({"index_topk", "indexer_budget", "index_topk_blocks"});
}

base::Result<ModelConfig> Read(const json::Node& root, const std::string& origin,
                               std::optional<int64_t> num_layers) {
  ConfigFields fields(root);
  ModelConfig config;
  config.path = origin;
  ReadIdentity(fields, config);
  if (!ReadLayerCount(fields, num_layers, config)) return fields.status().error();
  ReadDimensions(fields, config);
  ReadExperts(fields, config);
  ReadIndexer(fields, config);
  config.quantization = QuantizationText(fields);
  config.dtype = fields.Text({"dtype", "torch_dtype"}).value_or("");
  config.layers = PlanLayers(fields);
  if (!fields.status().ok()) return fields.status().error();
  config.attention = AttentionName(config);
  return config;
}

}  // namespace

bool ModelConfig::HasKey(std::string_view key) const {
  return std::binary_search(keys.begin(), keys.end(), key);
}

base::Result<ModelConfig> ParseModelConfig(std::string_view text, const std::string& origin,
                                           std::optional<int64_t> num_layers) {
  if (base::Status text_file = RefuseForeignBytes(text, "a model's config.json", kGive);
      !text_file.ok()) {
    return std::move(text_file).error().WithContext(origin);
  }
  base::Result<json::Node> root = json::ParseDocument(text);
  if (!root.ok()) return std::move(root).error().WithContext(origin);
  if (base::Status kind = RefuseOtherKinds(*root); !kind.ok()) {
    return std::move(kind).error().WithContext(origin);
  }
  base::Result<ModelConfig> config = Read(*root, origin, num_layers);
  if (!config.ok()) return std::move(config).error().WithContext(origin);
  return config;
}

base::Result<ModelConfig> LoadModelConfig(const std::string& path,
                                          std::optional<int64_t> num_layers) {
  std::error_code ignored;
  std::string file = path;
  if (fs::is_directory(path, ignored)) {
    file = (fs::path(path) / "config.json").string();
    if (!fs::exists(file, ignored)) {
      return base::Error{base::ErrorCode::kInvalidInput,
                         fmt::format("{}: the folder holds no config.json", path),
                         std::string(kGive)};
    }
  }
  base::Result<std::string> text = io::ReadSmallFile(file, kMaxConfigBytes, "a config.json",
                                                     "give the config.json of the model");
  if (!text.ok()) return std::move(text).error();
  return ParseModelConfig(*text, file, num_layers);
}

}  // namespace layerscope::model
