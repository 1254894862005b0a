#include "src/model/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace layerscope::model {
namespace {

using json::Node;

/// Words of a file are shown to people; nothing known is longer.
constexpr size_t kMaxWordBytes = 40;

std::string TextOf(const Node& table, std::string_view key) {
  const Node* const node = table.Find(key);
  if (node == nullptr) return {};
  std::string text(node->AsString().value_or("").substr(0, kMaxWordBytes));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::optional<int64_t> NumberOf(const Node& table, std::string_view key) {
  const Node* const node = table.Find(key);
  return node == nullptr ? std::nullopt : node->AsInt();
}

bool IsTrue(const Node& table, std::string_view key) {
  const Node* const node = table.Find(key);
  return node != nullptr && node->AsBool() == true;
}

/// " 128x128" of weight_block_size.
std::string BlockText(const Node& table) {
  const Node* const block = table.Find("weight_block_size");
  if (block == nullptr || block->items().size() != 2) return {};
  const std::optional<int64_t> rows = block->items()[0].AsInt();
  const std::optional<int64_t> columns = block->items()[1].AsInt();
  return rows && columns ? fmt::format(" {}x{}", *rows, *columns) : "";
}

std::string GroupText(const Node& table) {
  const std::optional<int64_t> group = NumberOf(table, "group_size");
  return group && *group > 0 ? fmt::format(" group {}", *group) : "";
}

/// "int4 group 128", "fp8" of one side (`weights`) of a compressed-tensors or ModelOpt group.
std::string WeightsText(const Node& weights) {
  const std::optional<int64_t> bits = NumberOf(weights, "num_bits");
  if (!bits) return {};
  const bool is_float = TextOf(weights, "type") == "float";
  return fmt::format("{}{}{}", is_float ? "fp" : "int", *bits, GroupText(weights));
}

/// The first of `config_groups`.
std::string GroupsText(const Node& table) {
  const Node* const groups = table.Find("config_groups");
  if (groups == nullptr) return {};
  for (const Node::Member& group : groups->members()) {
    const Node* const weights = group.second.Find("weights");
    if (weights == nullptr) continue;
    if (std::string text = WeightsText(*weights); !text.empty()) return text;
  }
  return {};
}

/// "mxfp4-pack-quantized" is mxfp4, "nvfp4-pack-quantized" nvfp4; others say only how they pack.
std::string FormatText(const Node& table) {
  const std::string format = TextOf(table, "format");
  for (const std::string_view known : {"mxfp4", "nvfp4", "mxfp8"}) {
    if (format.starts_with(known)) return std::string(known);
  }
  return {};
}

/// The experts' own format where it differs from the rest of the model.
std::string ExpertsText(const ConfigFields& fields, const Node* table) {
  if (table != nullptr) {
    std::string algorithm = TextOf(*table, "moe_quant_algo");
    if (!algorithm.empty()) return algorithm;
    std::string dtype = TextOf(*table, "expert_dtype");
    if (!dtype.empty()) return dtype;
  }
  const Node* const dtype = fields.Find("expert_dtype");
  return dtype == nullptr ? ""
                          : std::string(dtype->AsString().value_or("").substr(0, kMaxWordBytes));
}

std::string SchemeText(const Node& table) {
  const std::string method = TextOf(table, "quant_method");
  std::string algorithm = TextOf(table, "quant_algo");
  // ModelOpt names its algorithm; "mixed_precision" says nothing, its method does.
  if (!algorithm.empty() && algorithm != "mixed_precision") return algorithm;
  if (std::string format = FormatText(table); !format.empty()) return format;
  if (method == "compressed-tensors" || method == "modelopt") {
    const std::string groups = GroupsText(table);
    return groups.empty() ? method : groups;
  }
  if (IsTrue(table, "load_in_4bit")) return "bitsandbytes 4-bit";
  if (IsTrue(table, "load_in_8bit")) return "bitsandbytes 8-bit";
  const std::optional<int64_t> bits = NumberOf(table, "bits");
  if (bits) return fmt::format("{} int{}{}", method, *bits, GroupText(table));
  return method + BlockText(table);
}

}  // namespace

std::string QuantizationText(ConfigFields& fields) {
  const Node* const table = fields.Find({"quantization_config", "compression_config"});
  if (table != nullptr && !table->IsObject()) {
    fields.Mistake("quantization_config", "must be an object");
    return {};
  }
  std::string text = table == nullptr ? "" : SchemeText(*table);
  const std::string experts = ExpertsText(fields, table);
  if (!experts.empty() && experts != text) {
    text += fmt::format("{}experts {}", text.empty() ? "" : ", ", experts);
  }
  return text;
}

}  // namespace layerscope::model
