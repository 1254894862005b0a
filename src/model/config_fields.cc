#include "src/model/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace layerscope::model {
namespace {

using json::Node;

/// Where wrappers keep the text model; `thinker_config` is the part of Qwen's omni models in which
/// the text config lies.
constexpr std::array<std::string_view, 4> kNestedTexts = {"text_config", "language_config",
                                                          "llm_config", "thinker_config"};
constexpr int64_t kMaxNumber = 1'000'000'000'000'000;

bool IsNull(const Node* node) {
  return node == nullptr || node->kind() == Node::Kind::kNull;
}

const Node* NestedText(const Node& table) {
  for (const std::string_view key : kNestedTexts) {
    const Node* const nested = table.Find(key);
    if (nested != nullptr && nested->IsObject()) return nested;
  }
  return nullptr;
}

std::string_view KindName(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kBool:
      return "true or false";
    case Node::Kind::kInt:
    case Node::Kind::kDouble:
      return "a number";
    case Node::Kind::kString:
      return "a text";
    case Node::Kind::kArray:
      return "a list";
    case Node::Kind::kObject:
      return "an object";
  }
  return "something else";
}

std::string TypeOf(const Node& table) {
  const Node* const node = table.Find("model_type");
  return node == nullptr ? "" : std::string(node->AsString().value_or(""));
}

}  // namespace

ConfigFields::ConfigFields(const Node& root) {
  for (const Node* table = &root; table != nullptr; table = NestedText(*table)) {
    tables_.push_back(table);
  }
  std::reverse(tables_.begin(), tables_.end());
  for (const Node* const table : tables_) {
    const Node* const part = table->Find("sparse_attention_config");  // MiniMax-M3
    if (part != nullptr) parts_.push_back(part);
  }
}

ConfigFields::Found ConfigFields::FindWithKey(std::initializer_list<std::string_view> keys) const {
  for (const auto* const tables : {&tables_, &parts_}) {
    for (const Node* const table : *tables) {
      for (const std::string_view key : keys) {
        const Node* const node = table->Find(key);
        if (!IsNull(node)) return {key, node};
      }
    }
  }
  return {};
}

const Node* ConfigFields::Find(std::initializer_list<std::string_view> keys) const {
  return FindWithKey(keys).value;
}

std::optional<int64_t> ConfigFields::WholeNumber(std::string_view key, const Node& node) {
  const std::optional<int64_t> number = node.AsInt();
  if (!number) {
    Mistake(key, fmt::format("must be a whole number, but is {}", KindName(node)));
  } else if (*number < -kMaxNumber || *number > kMaxNumber) {
    Mistake(key, fmt::format("{} cannot be meant", *number));
    return std::nullopt;
  }
  return number;
}

std::optional<int64_t> ConfigFields::Number(std::initializer_list<std::string_view> keys) {
  const Found found = FindWithKey(keys);
  if (found.value == nullptr) return std::nullopt;
  std::optional<int64_t> number;
  if (found.value->IsArray()) {
    for (const Node& item : found.value->items()) {
      const std::optional<int64_t> next = WholeNumber(found.key, item);
      if (!next || (number && *number != *next)) return std::nullopt;
      number = next;
    }
  } else {
    number = WholeNumber(found.key, *found.value);
  }
  if (number && *number < 0) {
    Mistake(found.key, fmt::format("{} cannot be meant", *number));
    return std::nullopt;
  }
  return number;
}

std::optional<int64_t> ConfigFields::Positive(std::initializer_list<std::string_view> keys) {
  const Found found = FindWithKey(keys);
  if (found.value == nullptr || found.value->IsArray()) return std::nullopt;
  const std::optional<int64_t> number = WholeNumber(found.key, *found.value);
  return number && *number > 0 ? number : std::nullopt;
}

std::optional<int64_t> ConfigFields::Period(std::string_view key) {
  const Node* const node = Find(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<int64_t> number = WholeNumber(key, *node);
  if (number && *number < 1) {
    Mistake(key, fmt::format("must be at least 1, but is {}", *number));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> ConfigFields::Flag(std::string_view key) {
  const Node* const node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (const std::optional<bool> flag = node->AsBool()) return flag;
  Mistake(key, fmt::format("must be true or false, but is {}", KindName(*node)));
  return std::nullopt;
}

std::optional<std::string> ConfigFields::Text(std::initializer_list<std::string_view> keys) {
  const Found found = FindWithKey(keys);
  if (found.value == nullptr) return std::nullopt;
  if (const auto text = found.value->AsString()) return std::string(*text);
  Mistake(found.key, fmt::format("must be a text, but is {}", KindName(*found.value)));
  return std::nullopt;
}

std::optional<std::vector<std::string>> ConfigFields::TextList(std::string_view key) {
  const Node* const node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->IsArray()) {
    Mistake(key, fmt::format("must be a list of texts, but is {}", KindName(*node)));
    return std::nullopt;
  }
  std::vector<std::string> list;
  for (const Node& item : node->items()) {
    const auto text = item.AsString();
    if (!text) {
      Mistake(key, fmt::format("must be a list of texts, but holds {}", KindName(item)));
      return std::nullopt;
    }
    list.emplace_back(*text);
  }
  return list;
}

std::optional<std::vector<int64_t>> ConfigFields::SplitNumbers(std::string_view key,
                                                               std::string_view text) {
  std::vector<int64_t> list;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view piece = text.substr(0, comma);
    while (piece.starts_with(' ')) piece.remove_prefix(1);
    while (piece.ends_with(' ')) piece.remove_suffix(1);
    const std::optional<int64_t> number = Node{.value = std::string(piece)}.AsInt();
    if (!number) {
      Mistake(key, "must be a list of whole numbers");
      return std::nullopt;
    }
    list.push_back(*number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

std::optional<std::vector<int64_t>> ConfigFields::NumberList(std::string_view key) {
  const Node* const node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto text = node->AsString()) return SplitNumbers(key, *text);
  if (!node->IsArray()) {
    Mistake(key, fmt::format("must be a list of whole numbers, but is {}", KindName(*node)));
    return std::nullopt;
  }
  std::vector<int64_t> list;
  list.reserve(node->items().size());
  for (const Node& item : node->items()) {
    if (const std::optional<bool> flag = item.AsBool()) {
      list.push_back(*flag ? 1 : 0);
      continue;
    }
    const std::optional<int64_t> number = WholeNumber(key, item);
    if (!number) return std::nullopt;
    list.push_back(*number);
  }
  return list;
}

std::optional<std::vector<int64_t>> ConfigFields::NumberPerLayer(std::string_view key) {
  std::optional<std::vector<int64_t>> list = NumberList(key);
  if (list) list->resize(LayersOf(key, list->size()));
  return status_.ok() ? list : std::nullopt;
}

std::optional<std::vector<std::string>> ConfigFields::TextPerLayer(std::string_view key) {
  std::optional<std::vector<std::string>> list = TextList(key);
  if (list) list->resize(LayersOf(key, list->size()));
  return status_.ok() ? list : std::nullopt;
}

size_t ConfigFields::LayersOf(std::string_view key, size_t size) {
  const size_t n_layers = static_cast<size_t>(n_layers_);
  if (size == n_layers || size == n_layers + static_cast<size_t>(n_nextn_)) return n_layers;
  const std::string more =
      n_nextn_ > 0 ? fmt::format(" (or {} with num_nextn_predict_layers)", n_layers_ + n_nextn_)
                   : "";
  Mistake(key, fmt::format("has {} entries, one a layer would be {}{}", size, n_layers_, more));
  return n_layers;
}

void ConfigFields::SetLayerCount(int64_t n_layers, int64_t n_nextn) {
  n_layers_ = n_layers;
  n_nextn_ = n_nextn;
}

std::vector<bool> ConfigFields::LayersAmong(const std::vector<int64_t>& ids, int64_t first) const {
  std::vector<bool> among(static_cast<size_t>(n_layers_), false);
  for (const int64_t id : ids) {
    if (id >= first && id - first < n_layers_) among[static_cast<size_t>(id - first)] = true;
  }
  return among;
}

std::string ConfigFields::InnerType() const {
  for (const Node* const table : tables_) {
    if (std::string type = TypeOf(*table); !type.empty()) return type;
  }
  return {};
}

std::string ConfigFields::OuterType() const {
  for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) {
    if (std::string type = TypeOf(**table); !type.empty()) return type;
  }
  return {};
}

std::vector<std::string> ConfigFields::Architectures() const {
  std::vector<std::string> names;
  for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) {
    const Node* const list = (*table)->Find("architectures");
    if (list == nullptr) continue;
    for (const Node& item : list->items()) {
      if (const auto name = item.AsString()) names.emplace_back(*name);
    }
  }
  return names;
}

std::vector<std::string> ConfigFields::Keys() const {
  std::vector<std::string> keys;
  for (const Node* const table : tables_) {
    for (const Node::Member& member : table->members()) {
      if (!IsNull(&member.second)) keys.push_back(member.first);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

void ConfigFields::Mistake(std::string_view key, std::string_view what) {
  if (!status_.ok()) return;
  status_ = base::Error{base::ErrorCode::kInvalidInput, fmt::format("{}: {}", key, what),
                        "give the config.json of the model as it was published"};
}

}  // namespace layerscope::model
