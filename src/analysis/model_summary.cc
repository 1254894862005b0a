#include "src/analysis/model_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using base::FormatCount;
using model::ModelConfig;
using Facts = std::vector<std::pair<std::string, std::string>>;
using Number = std::optional<int64_t>;

table::Value ToValue(const Number& number) {
  return number ? table::Value(*number) : table::Value(table::Null());
}

table::Value ToValue(const std::string& text) {
  return text.empty() ? table::Value(table::Null()) : table::Value(text);
}

/// "64 x 128" parts with their names, in the order given; those that are not known are left out.
std::string Parts(std::initializer_list<std::pair<const char*, Number>> parts) {
  std::vector<std::string> texts;
  for (const auto& [name, number] : parts) {
    if (number) texts.push_back(fmt::format("{} {}", FormatCount(*number), name));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

void AddText(Facts& facts, const char* label, std::string text) {
  if (!text.empty()) facts.emplace_back(label, std::move(text));
}

void AddNumber(Facts& facts, const char* label, const Number& number) {
  if (number) facts.emplace_back(label, FormatCount(*number));
}

std::string LayersText(const ModelConfig& config) {
  const std::string mtp = config.n_mtp_layers.value_or(0) > 0
                              ? fmt::format(" + {} for next tokens (MTP)", *config.n_mtp_layers)
                              : "";
  return fmt::format("{}{}", FormatCount(config.num_layers), mtp);
}

std::string AttentionText(const ModelConfig& config) {
  const bool one = config.num_key_value_heads == 1;
  std::string heads = Parts({{"heads", config.num_attention_heads},
                             {one ? "KV head" : "KV heads", config.num_key_value_heads},
                             {"a head", config.head_dim}});
  if (config.attention.empty()) return heads;
  return heads.empty() ? config.attention : fmt::format("{}: {}", config.attention, heads);
}

/// Without experts every layer is dense; with them the types say which are.
bool HasDenseLayer(const ModelConfig& config) {
  return std::any_of(config.layers.begin(), config.layers.end(),
                     [](const auto& layer) { return layer.type.find("MOE") == std::string::npos; });
}

struct Range {
  int64_t first = 0;
  int64_t last = 0;
};

/// How many ranges from `at` on are equally long and equally far apart.
size_t Progression(const std::vector<Range>& ranges, size_t at) {
  size_t end = std::min(at + 2, ranges.size());
  if (end - at < 2) return end - at;
  const int64_t step = ranges[at + 1].first - ranges[at].first;
  const int64_t length = ranges[at].last - ranges[at].first;
  const auto goes_on = [&](size_t i) {
    return ranges[i].first - ranges[i - 1].first == step &&
           ranges[i].last - ranges[i].first == length;
  };
  if (!goes_on(at + 1)) return 1;
  while (end < ranges.size() && goes_on(end)) ++end;
  return end - at;
}

std::string RangeText(const Range& range) {
  if (range.first == range.last) return fmt::format("{}", range.first);
  return fmt::format("{}-{}", range.first, range.last);
}

/// "0-2, 4-6, … 44-46": long progressions are cut in their middle.
std::string RangesText(const std::vector<Range>& ranges) {
  constexpr size_t kLong = 4;
  std::vector<std::string> texts;
  for (size_t at = 0; at < ranges.size();) {
    const size_t length = Progression(ranges, at);
    if (length < kLong) {
      texts.push_back(RangeText(ranges[at++]));
      continue;
    }
    texts.push_back(RangeText(ranges[at]));
    texts.push_back(RangeText(ranges[at + 1]));
    texts.push_back("… " + RangeText(ranges[at + length - 1]));
    at += length;
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

table::Object ModelToObject(const ModelConfig& config) {
  table::Array architectures;
  for (const std::string& name : config.architectures) architectures.emplace_back(name);
  table::Value moe = table::Null();
  if (const model::ExpertConfig& experts = config.experts; experts.n_experts) {
    moe = table::Object{{"experts", ToValue(experts.n_experts)},
                        {"top_k", ToValue(experts.top_k)},
                        {"shared", ToValue(experts.n_shared)},
                        {"intermediate_size", ToValue(experts.intermediate_size)}};
  }
  table::Value indexer = table::Null();
  if (config.indexer.heads || config.indexer.head_dim || config.indexer.top_k) {
    indexer = table::Object{{"heads", ToValue(config.indexer.heads)},
                            {"head_dim", ToValue(config.indexer.head_dim)},
                            {"top_k", ToValue(config.indexer.top_k)}};
  }
  table::Value mhc = table::Null();
  if (config.hyper_connections) mhc = table::Object{{"streams", *config.hyper_connections}};
  return {{"name", ToValue(config.name)},
          {"model_type", ToValue(config.model_type)},
          {"outer_model_type", ToValue(config.outer_type)},
          {"architectures", std::move(architectures)},
          {"hidden_size", ToValue(config.hidden_size)},
          {"intermediate_size", ToValue(config.intermediate_size)},
          {"num_attention_heads", ToValue(config.num_attention_heads)},
          {"num_key_value_heads", ToValue(config.num_key_value_heads)},
          {"head_dim", ToValue(config.head_dim)},
          {"vocab_size", ToValue(config.vocab_size)},
          {"attention", ToValue(config.attention)},
          {"q_lora_rank", ToValue(config.q_lora_rank)},
          {"kv_lora_rank", ToValue(config.kv_lora_rank)},
          {"o_lora_rank", ToValue(config.o_lora_rank)},
          {"qk_nope_head_dim", ToValue(config.nope_head_dim)},
          {"qk_rope_head_dim", ToValue(config.rope_head_dim)},
          {"v_head_dim", ToValue(config.v_head_dim)},
          {"sliding_window", ToValue(config.sliding_window)},
          {"moe", std::move(moe)},
          {"mhc", std::move(mhc)},
          {"indexer", std::move(indexer)},
          {"mtp_layers", ToValue(config.n_mtp_layers)},
          {"quantization", ToValue(config.quantization)},
          {"dtype", ToValue(config.dtype)}};
}

Facts ModelFacts(const ModelConfig& config) {
  Facts facts;
  AddText(facts, "model", config.name);
  AddText(facts, "type",
          config.model_type == config.outer_type
              ? config.model_type
              : fmt::format("{} in {}", config.model_type, config.outer_type));
  AddText(facts, "layers", LayersText(config));
  AddNumber(facts, "hidden size", config.hidden_size);
  AddText(facts, "attention", AttentionText(config));
  AddText(
      facts, "LoRA ranks",
      Parts({{"q", config.q_lora_rank}, {"kv", config.kv_lora_rank}, {"o", config.o_lora_rank}}));
  AddText(facts, "head parts",
          Parts({{"without rope", config.nope_head_dim},
                 {"with rope", config.rope_head_dim},
                 {"v", config.v_head_dim}}));
  AddNumber(facts, "window", config.sliding_window);
  AddText(facts, "indexer",
          Parts({{"heads", config.indexer.heads},
                 {"a head", config.indexer.head_dim},
                 {"tokens kept", config.indexer.top_k}}));
  if (config.experts.n_experts) {
    AddText(facts, "experts",
            Parts({{"routed", config.experts.n_experts},
                   {"a token", config.experts.top_k},
                   {"shared", config.experts.n_shared},
                   {"wide", config.experts.intermediate_size}}));
  }
  if (HasDenseLayer(config)) AddNumber(facts, "dense FFN width", config.intermediate_size);
  AddNumber(facts, "residual streams (MHC)", config.hyper_connections);
  AddText(facts, "quantisation", config.quantization);
  AddText(facts, "dtype", config.dtype);
  if (config.HasKey("attention_chunk_size") && !config.HasKey("no_rope_layers") &&
      !config.HasKey("layer_types")) {
    AddText(facts, "note",
            "the config has attention_chunk_size and does not write out (no_rope_layers) which "
            "layers attend within chunks: all are shown as FULL");
  }
  return facts;
}

std::vector<PlannedType> PlannedTypes(const ModelConfig& config) {
  std::vector<PlannedType> types;
  std::vector<std::vector<Range>> ranges;
  std::map<std::string_view, size_t> place_of;
  const std::vector<model::PlannedLayer>& layers = config.layers;
  for (size_t first = 0; first < layers.size();) {
    size_t end = first;
    while (end < layers.size() && layers[end].type == layers[first].type) ++end;
    const auto [place, is_new] = place_of.try_emplace(layers[first].type, types.size());
    if (is_new) {
      types.push_back({.type = layers[first].type, .n = 0, .layers = {}});
      ranges.emplace_back();
    }
    types[place->second].n += static_cast<int64_t>(end - first);
    ranges[place->second].push_back({static_cast<int64_t>(first), static_cast<int64_t>(end) - 1});
    first = end;
  }
  for (size_t i = 0; i < types.size(); ++i) types[i].layers = RangesText(ranges[i]);
  return types;
}

}  // namespace layerscope::analysis
