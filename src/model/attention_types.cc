#include "src/model/attention_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "src/model/layer_words.h"

namespace layerscope::model {
namespace {

using json::Node;
using Types = std::vector<std::string>;

constexpr std::string_view kFull = "FULL";
constexpr std::string_view kSliding = "SWA";
constexpr std::string_view kLinear = "LINEAR";

Types TypesBy(const ConfigFields& fields, const std::function<std::string_view(int64_t)>& type_of) {
  Types types;
  for (int64_t i = 0; i < fields.n_layers(); ++i) types.emplace_back(type_of(i));
  return types;
}

// --- lists of one entry a layer

std::optional<Types> FromCompressRatios(ConfigFields& fields) {
  const auto ratios = fields.NumberPerLayer("compress_ratios");
  if (!ratios) return std::nullopt;
  Types types;
  for (const int64_t ratio : *ratios) {
    if (ratio < 0) fields.Mistake("compress_ratios", fmt::format("{} cannot be meant", ratio));
    types.push_back(TypeOfRatio(ratio));
  }
  return types;
}

/// Nemotron-H: one character a layer.
std::optional<Types> FromPatternText(ConfigFields& fields) {
  constexpr std::string_view kKey = "hybrid_override_pattern";
  const std::optional<std::string> pattern = fields.Text({kKey});
  if (!pattern) return std::nullopt;
  Types types;
  const size_t n = fields.LayersOf(kKey, pattern->size());
  for (size_t i = 0; i < std::min(n, pattern->size()); ++i) {
    const std::string_view type = TypeOfPatternLetter((*pattern)[i]);
    if (type.empty()) {
      fields.Mistake(kKey, fmt::format("character {} is none of M (Mamba), * (attention), - (MLP), "
                                       "E (experts)",
                                       i));
    }
    types.emplace_back(type);
  }
  return types;
}

std::optional<Types> FromWords(ConfigFields& fields, bool* one_block) {
  for (const std::string_view key : {"layer_types", "layers_block_type", "attention_layers"}) {
    const auto words = fields.TextPerLayer(key);
    if (!words || !fields.status().ok()) continue;
    return TypesOfWords(*words, one_block);
  }
  return std::nullopt;
}

/// RecurrentGemma: a pattern that repeats.
std::optional<Types> FromRepeatedWords(ConfigFields& fields) {
  for (const std::string_view key : {"block_types", "_block_types"}) {
    const auto words = fields.TextList(key);
    if (!words || words->empty()) continue;
    bool one_block = false;
    const Types pattern = TypesOfWords(*words, &one_block);
    return TypesBy(fields, [&](int64_t i) {
      return std::string_view(pattern[static_cast<size_t>(i) % pattern.size()]);
    });
  }
  return std::nullopt;
}

/// A list of 0 and 1: MiniMax-01 (0 = lightning attention), MiMo-V2 (1 = sliding), MiniMax-M3 (1 =
/// sparse).
std::optional<Types> FromNumbers(ConfigFields& fields) {
  struct Field {
    std::string_view key, zero, one;
  };
  constexpr std::array<Field, 3> kFields = {{{"attn_type_list", kLinear, kFull},
                                             {"hybrid_layer_pattern", kFull, kSliding},
                                             {"sparse_attention_freq", kFull, "DSA"}}};
  for (const Field& field : kFields) {
    const auto list = fields.NumberPerLayer(field.key);
    if (!list) continue;
    return TypesBy(fields, [&](int64_t i) {
      return (*list)[static_cast<size_t>(i)] != 0 ? field.one : field.zero;
    });
  }
  return std::nullopt;
}

// --- ids of layers

std::optional<std::vector<int64_t>> IdsOf(ConfigFields& fields, const Node* table,
                                          std::string_view key) {
  const Node* const node = table == nullptr ? nullptr : table->Find(key);
  if (node == nullptr || node->kind() == Node::Kind::kNull) return std::nullopt;
  std::vector<int64_t> ids;
  for (const Node& item : node->items()) {
    const std::optional<int64_t> id = item.AsInt();
    if (!id || *id < 0) {
      fields.Mistake(key, "must be a list of layer numbers");
      return std::nullopt;
    }
    ids.push_back(*id);
  }
  return ids;
}

/// The number of the first layer in lists of ids. The lists say it themselves where they hold 0, or
/// end at the layer count; else the family decides: Kimi counts from 1, GLM-5 Next from 0.
int64_t FirstId(const ConfigFields& fields, const std::vector<int64_t>& ids) {
  if (std::find(ids.begin(), ids.end(), 0) != ids.end()) return 0;
  if (std::find(ids.begin(), ids.end(), fields.n_layers()) != ids.end()) return 1;
  return fields.InnerType().starts_with("glm5_next") ? 0 : 1;
}

/// `linear_attn_config` of Kimi Linear, K3 and GLM-5 Next.
std::optional<Types> FromLinearIds(ConfigFields& fields) {
  const Node* const table = fields.Find("linear_attn_config");
  const auto linear = IdsOf(fields, table, "kda_layers");
  const auto full = IdsOf(fields, table, "full_attn_layers");
  if (!linear && !full) return std::nullopt;
  std::vector<int64_t> all = linear.value_or(std::vector<int64_t>());
  if (full) all.insert(all.end(), full->begin(), full->end());
  const int64_t first = FirstId(fields, all);
  const std::vector<bool> is_linear = fields.LayersAmong(linear.value_or(all), first);
  const std::vector<bool> is_full = fields.LayersAmong(full.value_or(all), first);
  return TypesBy(fields, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return (linear ? is_linear[at] : !is_full[at]) ? kLinear : kFull;
  });
}

/// Ids, counted from 0, of the layers of one type: the others are of another.
std::optional<Types> FromIds(ConfigFields& fields) {
  struct Field {
    std::string_view key, listed, others;
  };
  constexpr std::array<Field, 3> kFields = {{
      {"attn_layer_indices", kFull, kLinear},  // Bamba
      {"full_attn_idxs", kFull, "CONV"},       // LFM2
      {"local_layer_ids", kSliding, kFull},    // Inkling
  }};
  for (const Field& field : kFields) {
    const auto ids = fields.NumberList(field.key);
    if (!ids) continue;
    const std::vector<bool> listed = fields.LayersAmong(*ids);
    return TypesBy(fields, [&](int64_t i) {
      return listed[static_cast<size_t>(i)] ? field.listed : field.others;
    });
  }
  return std::nullopt;
}

// --- periods

std::optional<Types> FromPeriods(ConfigFields& fields) {
  if (const auto interval = fields.Period("full_attention_interval")) {  // Qwen3-Next, Qwen3.5
    return TypesBy(fields, [&](int64_t i) { return (i + 1) % *interval == 0 ? kFull : kLinear; });
  }
  if (const auto period = fields.Period("attn_layer_period")) {  // Jamba
    const int64_t offset = fields.Number({"attn_layer_offset"}).value_or(0);
    return TypesBy(fields, [&](int64_t i) { return i % *period == offset ? kFull : kLinear; });
  }
  if (const auto group = fields.Period("layer_group_size")) {  // Ling and Ring, linear versions
    const int64_t whole = fields.n_layers() / *group * *group;
    return TypesBy(
        fields, [&](int64_t i) { return (i + 1) % *group == 0 || i >= whole ? kFull : kLinear; });
  }
  if (const auto every = fields.Period("global_attn_every_n_layers")) {  // ModernBERT
    return TypesBy(fields, [&](int64_t i) { return i % *every == 0 ? kFull : kSliding; });
  }
  return std::nullopt;
}

// --- sliding windows

/// Families whose published configs leave the pattern to the code: every n-th layer is full.
int64_t FamilyPattern(const std::string& model_type) {
  if (model_type.starts_with("gemma2") || model_type.starts_with("gpt_oss")) return 2;
  if (model_type.starts_with("gemma3")) return 6;
  if (model_type.starts_with("cohere2")) return 4;
  return 0;
}

/// "LLLG" (EXAONE 4): L slides; the last layer never does.
Types FromLetters(ConfigFields& fields, std::string_view letters) {
  for (const char letter : letters) {
    if (letter != 'L' && letter != 'G') {
      fields.Mistake("sliding_window_pattern", "must be a number or letters L and G");
      break;
    }
  }
  return TypesBy(fields, [&](int64_t i) {
    const bool slides = i + 1 < fields.n_layers() && !letters.empty() &&
                        letters[static_cast<size_t>(i) % letters.size()] == 'L';
    return slides ? kSliding : kFull;
  });
}

std::optional<Types> FromSlidingPattern(ConfigFields& fields) {
  int64_t period = FamilyPattern(fields.InnerType());
  for (const std::string_view key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    const Node* const node = fields.Find(key);
    if (node == nullptr) continue;
    const auto letters = node->AsString();
    if (letters && !node->AsInt()) return FromLetters(fields, *letters);
    period = fields.Period(key).value_or(0);
  }
  if (period == 0) return std::nullopt;
  return TypesBy(fields, [&](int64_t i) { return (i + 1) % period == 0 ? kFull : kSliding; });
}

std::optional<Types> FromSlidingWindow(ConfigFields& fields) {
  if (!fields.Positive({"sliding_window", "sliding_window_size"})) return std::nullopt;
  const std::optional<bool> in_use = fields.Flag("use_sliding_window");
  if (in_use == false) return std::nullopt;
  if (auto types = FromSlidingPattern(fields)) return types;
  // Qwen2: the first max_window_layers layers have full attention, and the switch must be on.
  const int64_t n_full =
      in_use == true ? fields.Number({"max_window_layers"}).value_or(0) : int64_t{0};
  return TypesBy(fields, [&](int64_t i) { return i < n_full ? kFull : kSliding; });
}

/// Llama-4 with its list written out: layers with rotary embedding attend within chunks.
std::optional<Types> FromChunks(ConfigFields& fields) {
  if (!fields.Positive({"attention_chunk_size"})) return std::nullopt;
  const Node* const node = fields.Find("no_rope_layers");
  if (node == nullptr || node->items().empty()) return std::nullopt;
  const auto has_rope = fields.NumberPerLayer("no_rope_layers");
  if (!has_rope) return std::nullopt;
  return TypesBy(fields, [&](int64_t i) {
    return (*has_rope)[static_cast<size_t>(i)] != 0 ? kSliding : kFull;
  });
}

bool IsLinearFamily(const std::string& type) {
  return type.starts_with("mamba") || type.starts_with("falcon_mamba") || type.starts_with("rwkv");
}

/// A config with an indexer that does not itself name its sparse layers has it in every layer with
/// full attention.
void MarkSparse(ConfigFields& fields, Types& types) {
  const bool has_indexer =
      fields.Positive({"index_topk", "indexer_budget", "index_topk_blocks"}).has_value();
  if (!has_indexer || std::find(types.begin(), types.end(), "DSA") != types.end()) return;
  std::replace(types.begin(), types.end(), std::string(kFull), std::string("DSA"));
}

}  // namespace

AttentionPlan PlanAttention(ConfigFields& fields) {
  if (auto types = FromCompressRatios(fields)) return {.types = *std::move(types)};
  if (auto types = FromPatternText(fields)) {
    return {.types = *std::move(types), .one_block_a_layer = true};
  }
  AttentionPlan plan;
  auto types = FromWords(fields, &plan.one_block_a_layer);
  for (const auto& read : {FromRepeatedWords, FromLinearIds, FromNumbers, FromIds, FromPeriods,
                           FromChunks, FromSlidingWindow}) {
    if (!types) types = read(fields);
  }
  if (!types) {
    const bool linear = IsLinearFamily(fields.InnerType());
    types = TypesBy(fields, [&](int64_t) { return linear ? kLinear : kFull; });
  }
  plan.types = *std::move(types);
  MarkSparse(fields, plan.types);
  return plan;
}

}  // namespace layerscope::model
