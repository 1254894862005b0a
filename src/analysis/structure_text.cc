#include "src/analysis/structure_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "src/base/format_number.h"
#include "src/layers/segmentation.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using layers::AnchorUse;
using layers::LayerStructure;

/// As many names of anchor kernels as a line of notes holds.
constexpr size_t kAnchorNames = 4;

std::string_view LevelOf(double confidence) {
  return confidence >= layers::kConfident ? "high" : "low";
}

std::string AnchorText(const AnchorUse& anchor, const std::string& profile) {
  if (anchor.pattern.empty()) return "found by repetition, no anchor given";
  const std::string per_layer =
      anchor.per_layer
          ? fmt::format("{} {} a layer", anchor.of_profile ? ";" : ",", *anchor.per_layer)
          : std::string();
  if (!anchor.of_profile)
    return fmt::format("{} anchor {}{}", anchor.kind, anchor.pattern, per_layer);
  const size_t n = std::min(anchor.kernels.size(), kAnchorNames);
  std::string kernels =
      fmt::format("{}", fmt::join(anchor.kernels.begin(),
                                  anchor.kernels.begin() + static_cast<std::ptrdiff_t>(n), ", "));
  if (n < anchor.kernels.size()) kernels += fmt::format(", … ({} in all)", anchor.kernels.size());
  return fmt::format("{} anchor of profile {}: {}{}", anchor.kind, profile, kernels, per_layer);
}

}  // namespace

table::Object AnchorObject(const LayerStructure& structure) {
  const AnchorUse& anchor = structure.anchor;
  const bool found = !structure.layers.empty();
  return {{"pattern", table::TextOrNull(anchor.pattern)},
          {"kernels", table::Array(anchor.kernels.begin(), anchor.kernels.end())},
          {"kind", table::TextOrNull(anchor.kind)},
          {"per_layer", table::OrNull(anchor.per_layer)},
          {"offset", table::OrNull(anchor.offset)},
          {"evidence", attribution::ToString(anchor.evidence)},
          {"confidence", RoundedConfidence(anchor.confidence)},
          {"level", found ? table::Value(LevelOf(anchor.confidence)) : table::Value()}};
}

table::Object ProfileObject(const LayerStructure& structure) {
  return {{"name", table::TextOrNull(structure.profile)},
          {"why", table::TextOrNull(structure.profile_why)}};
}

table::Value AgreementValue(const LayerStructure& structure) {
  if (!structure.modules) return table::Null();
  return table::Object{{"class", structure.modules->module_class},
                       {"n_layers", structure.modules->n_layers},
                       {"n_agreeing", structure.modules->n_agreeing},
                       {"n_displaced", structure.modules->n_displaced},
                       {"n_helpers", structure.modules->n_helpers}};
}

double RoundedConfidence(double confidence) {
  return std::round(confidence * 1000) / 1000;
}

std::string ConfidenceText(double confidence) {
  return fmt::format("{:.2f} ({})", confidence, LevelOf(confidence));
}

std::string FoundText(const LayerStructure& structure) {
  if (structure.layers.empty()) return {};
  const std::string layers =
      structure.layers_per_pass
          ? base::FormatCounted(*structure.layers_per_pass, "layer") + " a pass"
          : std::string("number of layers unknown");
  return fmt::format("{}: {}; confidence {}", layers,
                     AnchorText(structure.anchor, structure.profile),
                     ConfidenceText(structure.anchor.confidence));
}

/// "Qwen3DecoderLayer", and not "layers" of a path, whose class nobody said.
bool IsClassName(std::string_view name) {
  return !name.empty() && std::isupper(static_cast<unsigned char>(name.front())) != 0;
}

std::string AgreementText(const LayerStructure& structure) {
  if (!structure.modules) return {};
  const layers::ModuleAgreement& modules = *structure.modules;
  std::string text = fmt::format(
      "checked against nn.Module scopes: {} of {} layers hold exactly the kernels of "
      "one {}{}",
      base::FormatCount(modules.n_agreeing), base::FormatCount(modules.n_layers),
      IsClassName(modules.module_class) ? "" : "module of ", modules.module_class);
  if (modules.n_helpers > 0) {
    text += fmt::format(", {} before an anchor set aside",
                        base::FormatCounted(modules.n_helpers, "helper kernel"));
  }
  if (modules.n_displaced > 0) {
    text += fmt::format("; layer boundaries differ by {}",
                        base::FormatCounted(modules.n_displaced, "kernel"));
  }
  return text;
}

std::string ProfileText(const LayerStructure& structure) {
  if (structure.profile.empty()) return "unknown";
  if (structure.profile_why.empty()) return structure.profile;
  return fmt::format("{} ({})", structure.profile, structure.profile_why);
}

int64_t MostBlocks(const LayerStructure& structure) {
  int64_t most = 0;
  for (const uint8_t block : structure.block) {
    if (block != layers::kNoBlock) most = std::max<int64_t>(most, block + 1);
  }
  return most;
}

std::string BlockName(const model::Profile* profile, int64_t most_blocks, uint8_t block) {
  if (block == layers::kNoBlock) return {};
  if (profile != nullptr && block < profile->block_names.size()) return profile->block_names[block];
  if (most_blocks == 2) return block == 0 ? "attention" : "ffn";
  return fmt::format("block {}", block);
}

table::CellList FlagNames(uint8_t flags) {
  table::CellList names;
  if ((flags & layers::kLayerFirst) != 0) names.emplace_back("FIRST");
  if ((flags & layers::kLayerFinal) != 0) names.emplace_back("FINAL");
  if ((flags & layers::kLayerCut) != 0) names.emplace_back("CUT");
  return names;
}

}  // namespace layerscope::analysis
