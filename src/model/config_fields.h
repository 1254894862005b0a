#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/json/document.h"

namespace layerscope::model {

/// More decoder layers than this are a mistake in the file: the deepest model known has 126.
inline constexpr int64_t kMaxConfigLayers = 4096;

/// A Hugging Face config as one flat table. Wrappers of text models (vision, audio) hold the text
/// model's config under `text_config`, `language_config` or `llm_config`: the innermost table comes
/// first, then those around it. A null is an absent key. Configs of other towers are not looked
/// into.
///
/// The readers return nothing for absent keys, and for wrong ones too: the first mistake is kept in
/// `status()`, so that the caller checks once at the end. `root` must outlive this.
class ConfigFields {
 public:
  explicit ConfigFields(const json::Node& root);

  /// The value of the first of `keys` that is there; null when none is.
  const json::Node* Find(std::initializer_list<std::string_view> keys) const;
  const json::Node* Find(std::string_view key) const { return Find({key}); }
  bool Has(std::string_view key) const { return Find(key) != nullptr; }

  /// A whole number from 0 to 10^15. A list of equal numbers counts as that number (some configs
  /// say a width once a layer), a list of different ones as absent.
  std::optional<int64_t> Number(std::initializer_list<std::string_view> keys);
  /// As Number, but everything under 1 is absent: windows are switched off by 0, -1 and null.
  std::optional<int64_t> Positive(std::initializer_list<std::string_view> keys);
  /// A step or period: at least 1.
  std::optional<int64_t> Period(std::string_view key);
  std::optional<bool> Flag(std::string_view key);
  std::optional<std::string> Text(std::initializer_list<std::string_view> keys);
  std::optional<std::vector<std::string>> TextList(std::string_view key);
  /// Whole numbers, true and false as 1 and 0; also as text: "3,4,5".
  std::optional<std::vector<int64_t>> NumberList(std::string_view key);
  /// NumberList of one number a layer: its length is checked and the surplus dropped.
  std::optional<std::vector<int64_t>> NumberPerLayer(std::string_view key);
  std::optional<std::vector<std::string>> TextPerLayer(std::string_view key);
  /// How many of the `size` entries of a per-layer list belong to layers: the layer count, and the
  /// list may be longer by num_nextn_predict_layers. Another size is a mistake.
  size_t LayersOf(std::string_view key, size_t size);

  /// Must be set before per-layer lists are read.
  void SetLayerCount(int64_t n_layers, int64_t n_nextn);
  int64_t n_layers() const { return n_layers_; }
  /// By layer: whether its id is in `ids`, which count from `first`. Ids of other layers (of models
  /// that were shortened) are ignored.
  std::vector<bool> LayersAmong(const std::vector<int64_t>& ids, int64_t first = 0) const;

  /// `model_type` of the innermost and of the outermost table that has one; empty when none has.
  std::string InnerType() const;
  std::string OuterType() const;
  /// `architectures` of all tables, the outermost first.
  std::vector<std::string> Architectures() const;
  /// Every key that is there, sorted.
  std::vector<std::string> Keys() const;

  /// Keeps the first mistake: `key: what`.
  void Mistake(std::string_view key, std::string_view what);
  const base::Status& status() const { return status_; }

 private:
  struct Found {
    std::string_view key;
    const json::Node* value = nullptr;
  };
  Found FindWithKey(std::initializer_list<std::string_view> keys) const;
  std::optional<int64_t> WholeNumber(std::string_view key, const json::Node& node);
  std::optional<std::vector<int64_t>> SplitNumbers(std::string_view key, std::string_view text);

  std::vector<const json::Node*> tables_;  ///< innermost first
  /// Parts of a text config that some families keep in an object of its own; looked into last.
  std::vector<const json::Node*> parts_;
  int64_t n_layers_ = 0;
  int64_t n_nextn_ = 0;
  base::Status status_;
};

}  // namespace layerscope::model
