#include "src/model/expert_layers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>

namespace layerscope::model {
namespace {

using Kind = FeedForward::Kind;

/// In the order in which they are believed.
constexpr std::array<std::string_view, 6> kExpertCounts = {
    "n_routed_experts", "num_experts",     "num_local_experts",
    "moe_num_experts",  "num_moe_experts", "num_routed_experts"};

int64_t LargestOf(std::vector<int64_t> numbers) {
  const auto largest = std::max_element(numbers.begin(), numbers.end());
  return largest == numbers.end() ? 0 : *largest;
}

std::vector<bool> MembersOf(ConfigFields& fields, std::string_view key,
                            const std::vector<int64_t>& ids) {
  const bool all_count = std::all_of(ids.begin(), ids.end(), [](int64_t id) { return id >= 0; });
  if (!all_count) fields.Mistake(key, "names a negative layer");
  return fields.LayersAmong(ids);
}

std::vector<FeedForward> ToPlan(const std::vector<bool>& has_experts) {
  std::vector<FeedForward> plan;
  plan.reserve(has_experts.size());
  for (const bool has : has_experts) plan.push_back({.kind = has ? Kind::kExperts : Kind::kDense});
  return plan;
}

/// transformers from version 5 on: "dense", "sparse", "moe", "hash_moe".
std::optional<std::vector<FeedForward>> FromWords(ConfigFields& fields) {
  const auto words = fields.TextPerLayer("mlp_layer_types");
  if (!words) return std::nullopt;
  std::vector<FeedForward> plan;
  for (const std::string& word : *words) {
    plan.push_back({.kind = word == "dense" ? Kind::kDense : Kind::kExperts,
                    .hash = word.find("hash") != std::string::npos});
  }
  return plan;
}

/// Llama-4's `moe_layers`, Step's `moe_layers_enum`.
std::optional<std::vector<FeedForward>> FromIds(ConfigFields& fields) {
  for (const std::string_view key : {"moe_layers", "moe_layers_enum"}) {
    const json::Node* const node = fields.Find(key);
    // Llama-4's is empty or absent where interleave_moe_layer_step rules.
    if (node == nullptr || (node->IsArray() && node->items().empty())) continue;
    const auto ids = fields.NumberList(key);
    if (!ids) return std::nullopt;
    return ToPlan(MembersOf(fields, key, *ids));
  }
  return std::nullopt;
}

/// The rules by number: a layer has experts when every rule that the config states agrees.
class NumberRules {
 public:
  explicit NumberRules(ConfigFields& fields)
      : fields_(fields), experts_(static_cast<size_t>(fields.n_layers()), true) {}

  std::vector<FeedForward> Plan() {
    ApplyFirstDense();
    ApplyMlpOnly();
    ApplySteps();
    ApplyFrequency();
    ApplyPeriod();
    ApplySpan();
    return ToPlan(experts_);
  }

 private:
  void Keep(const std::function<bool(int64_t)>& has_experts) {
    for (int64_t i = 0; i < fields_.n_layers(); ++i) {
      if (!has_experts(i)) experts_[static_cast<size_t>(i)] = false;
    }
  }

  /// DeepSeek and its like; LFM2 (num_dense_layers); Hunyuan (moe_layer_num_skipped).
  void ApplyFirstDense() {
    for (const std::string_view key : {"first_k_dense_replace", "num_dense_layers",
                                       "n_dense_first_layers", "moe_layer_num_skipped"}) {
      if (const auto n_dense = fields_.Number({key})) {
        Keep([&](int64_t i) { return i >= *n_dense; });
      }
    }
  }

  void ApplyMlpOnly() {
    const auto ids = fields_.NumberList("mlp_only_layers");
    if (!ids) return;
    const std::vector<bool> dense = MembersOf(fields_, "mlp_only_layers", *ids);
    Keep([&](int64_t i) { return !dense[static_cast<size_t>(i)]; });
  }

  /// Every step-th layer, counted from 1: Qwen, Llama-4 (0: none), Arctic.
  void ApplySteps() {
    for (const std::string_view key : {"decoder_sparse_step", "moe_layer_frequency"}) {
      if (const auto step = fields_.Period(key)) {
        Keep([&](int64_t i) { return (i + 1) % *step == 0; });
      }
    }
    if (const auto step = fields_.Number({"interleave_moe_layer_step"})) {
      Keep([&](int64_t i) { return *step > 0 && (i + 1) % *step == 0; });
    }
  }

  /// DeepSeek: every freq-th layer, counted from 0; as a list: 0 or 1 a layer.
  void ApplyFrequency() {
    const json::Node* const node = fields_.Find("moe_layer_freq");
    if (node == nullptr) return;
    if (!node->IsArray()) {
      if (const auto freq = fields_.Period("moe_layer_freq")) {
        Keep([&](int64_t i) { return i % *freq == 0; });
      }
      return;
    }
    if (const auto has = fields_.NumberPerLayer("moe_layer_freq")) {
      Keep([&](int64_t i) { return (*has)[static_cast<size_t>(i)] != 0; });
    }
  }

  /// Jamba.
  void ApplyPeriod() {
    const auto period = fields_.Period("expert_layer_period");
    const int64_t offset = fields_.Number({"expert_layer_offset"}).value_or(0);
    if (period) Keep([&](int64_t i) { return i % *period == offset; });
  }

  /// ERNIE: from, to (-1 = the last), and every interval-th counted from 1. Lists hold one number a
  /// modality; the layers of any of them have experts.
  void ApplySpan() {
    if (const auto first = EdgeOf("moe_layer_start_index")) {
      Keep([&](int64_t i) { return i >= first->first; });
    }
    if (const auto last = EdgeOf("moe_layer_end_index")) {
      Keep([&](int64_t i) { return last->first < 0 || i <= last->second; });
    }
    if (const auto interval = fields_.Period("moe_layer_interval")) {
      Keep([&](int64_t i) { return (i + 1) % *interval == 0; });
    }
  }

  /// The smallest and the largest of a number or a list.
  std::optional<std::pair<int64_t, int64_t>> EdgeOf(std::string_view key) {
    const json::Node* const node = fields_.Find(key);
    if (node == nullptr) return std::nullopt;
    if (!node->IsArray()) {
      const std::optional<int64_t> number = node->AsInt();
      if (!number) fields_.Mistake(key, "must be a whole number");
      return number ? std::optional(std::pair(*number, *number)) : std::nullopt;
    }
    const auto list = fields_.NumberList(key);
    if (!list || list->empty()) return std::nullopt;
    const auto [smallest, largest] = std::minmax_element(list->begin(), list->end());
    return std::pair(*smallest, *largest);
  }

  ConfigFields& fields_;
  std::vector<bool> experts_;
};

}  // namespace

int64_t CountExperts(ConfigFields& fields) {
  // Gemma 4 keeps the numbers of experts where a model of the family has none.
  if (!fields.Flag("enable_moe_block").value_or(true)) return 0;
  for (const std::string_view key : kExpertCounts) {
    const json::Node* const node = fields.Find(key);
    if (node == nullptr) continue;
    const int64_t n_experts =
        node->IsArray() ? LargestOf(fields.NumberList(key).value_or(std::vector<int64_t>()))
                        : fields.Number({key}).value_or(0);
    if (n_experts > 1) return n_experts;
  }
  return 0;
}

std::vector<FeedForward> PlanFeedForward(ConfigFields& fields) {
  const size_t n_layers = static_cast<size_t>(fields.n_layers());
  std::optional<std::vector<FeedForward>> plan;
  if (CountExperts(fields) == 0) {
    plan.emplace(n_layers);
  } else {
    plan = FromWords(fields);
    if (!plan) plan = FromIds(fields);
    if (!plan) plan = NumberRules(fields).Plan();
  }
  const int64_t n_hash = fields.Number({"num_hash_layers"}).value_or(0);
  for (size_t i = 0; i < n_layers && static_cast<int64_t>(i) < n_hash; ++i) (*plan)[i].hash = true;
  return *std::move(plan);
}

}  // namespace layerscope::model
