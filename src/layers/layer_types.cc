#include "src/layers/layer_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "src/base/hash.h"

namespace layerscope::layers {
namespace {

/// Layers that share at least this many of their kernels are of one type where only the model's
/// first or last layer sets them apart.
constexpr double kAlike = 0.75;
/// Types that layer 0 is compared with; no real model has more.
constexpr size_t kMostTypes = 64;

/// The layers of one pass by what they run: equal numbers = equal kernels.
using Partition = std::vector<uint32_t>;

std::span<const Token> TokensOf(const PlacedPass& pass, size_t layer) {
  const PlacedLayer& placed = pass.layers[layer];
  return std::span<const Token>(pass.group->tokens)
      .subspan(placed.begin, placed.end - placed.begin);
}

std::vector<uint32_t> Names(std::span<const Token> tokens, bool as_set) {
  std::vector<uint32_t> names;
  for (const Token& token : tokens) names.push_back(token.name);
  if (!as_set) return names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Partition PartitionBy(const PlacedPass& pass, bool as_set) {
  std::map<std::vector<uint32_t>, uint32_t> known;
  Partition partition;
  for (size_t i = 0; i < pass.layers.size(); ++i) {
    const auto id = static_cast<uint32_t>(known.size());
    partition.push_back(known.try_emplace(Names(TokensOf(pass, i), as_set), id).first->second);
  }
  return partition;
}

size_t CountParts(const Partition& partition) {
  return std::set<uint32_t>(partition.begin(), partition.end()).size();
}

/// The share of kernels that two layers have in common, order set aside.
double Likeness(std::span<const Token> a, std::span<const Token> b) {
  std::vector<uint32_t> x = Names(a, false);
  std::vector<uint32_t> y = Names(b, false);
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::vector<uint32_t> both;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  const size_t larger = std::max(x.size(), y.size());
  return larger == 0 ? 1 : static_cast<double>(both.size()) / static_cast<double>(larger);
}

/// A layer that is alone with its kernels joins the part that it is most like.
void JoinNearest(const PlacedPass& pass, size_t layer, Partition& partition) {
  if (std::count(partition.begin(), partition.end(), partition[layer]) != 1) return;
  std::set<uint32_t> tried = {partition[layer]};
  double best = kAlike;
  uint32_t nearest = partition[layer];
  for (size_t i = 0; i < partition.size() && tried.size() <= kMostTypes; ++i) {
    if (!tried.insert(partition[i]).second) continue;
    const double likeness = Likeness(TokensOf(pass, layer), TokensOf(pass, i));
    if (likeness > best) std::tie(best, nearest) = std::pair(likeness, partition[i]);
  }
  partition[layer] = nearest;
}

Partition PartitionOf(const PlacedPass& pass) {
  Partition partition = PartitionBy(pass, false);
  // Experts that run one by one repeat a varying number of times: then what a layer runs counts,
  // not how often.
  if (CountParts(partition) * 2 > partition.size()) partition = PartitionBy(pass, true);
  if (partition.size() < 2) return partition;
  JoinNearest(pass, 0, partition);
  JoinNearest(pass, partition.size() - 1, partition);
  return partition;
}

/// "A" … "Z", "AA", ….
std::string Letters(size_t n) {
  std::string text;
  for (++n; n > 0; n = (n - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('A' + (n - 1) % 26));
  }
  return text;
}

/// The type of every layer of one model, from all its whole passes.
class ModelTypes {
 public:
  ModelTypes(const std::vector<PlacedPass>& passes, bool draft) : passes_(passes), draft_(draft) {}

  /// Of the most frequent kernel sequence of each phase: a pass with a stray kernel makes no type.
  std::vector<const PlacedPass*> Representatives() const {
    std::map<PassKind, std::map<uint64_t, std::pair<size_t, const PlacedPass*>>> seen;
    for (const PlacedPass& pass : passes_) {
      if (pass.is_draft() != draft_ || !pass.complete) continue;
      uint64_t hash = 0;
      for (const Token& token : pass.group->tokens) hash = base::Mix(hash ^ token.name);
      auto& [n, first] = seen[pass.group->kind][hash];
      if (n++ == 0) first = &pass;
    }
    std::vector<const PlacedPass*> chosen;
    for (const auto& [kind, sequences] : seen) {
      const auto best = std::max_element(
          sequences.begin(), sequences.end(),
          [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
      chosen.push_back(best->second.second);
    }
    if (chosen.empty()) AddCut(chosen);
    return chosen;
  }

  /// By layer index: number of its type, in order of the first layer that has it.
  std::vector<uint32_t> Combine() const {
    std::map<std::vector<uint32_t>, uint32_t> known;
    std::vector<Partition> partitions;
    size_t n_layers = 0;
    for (const PlacedPass* pass : Representatives()) {
      Partition by_index;
      const Partition partition = PartitionOf(*pass);
      for (size_t i = 0; i < partition.size(); ++i) {
        const auto index = static_cast<size_t>(std::max(pass->layers[i].index, 0));
        if (index >= by_index.size()) by_index.resize(index + 1, 0);
        by_index[index] = partition[i] + 1;
      }
      n_layers = std::max(n_layers, by_index.size());
      partitions.push_back(std::move(by_index));
    }
    std::vector<uint32_t> types;
    for (size_t i = 0; i < n_layers; ++i) {
      std::vector<uint32_t> key;
      for (const Partition& partition : partitions) {
        key.push_back(i < partition.size() ? partition[i] : 0);
      }
      const auto id = static_cast<uint32_t>(known.size());
      types.push_back(known.try_emplace(std::move(key), id).first->second);
    }
    return types;
  }

 private:
  /// Without a whole pass the one with most layers has to do.
  void AddCut(std::vector<const PlacedPass*>& chosen) const {
    const PlacedPass* most = nullptr;
    for (const PlacedPass& pass : passes_) {
      if (pass.is_draft() != draft_ || pass.layers.empty()) continue;
      if (most == nullptr || pass.layers.size() > most->layers.size()) most = &pass;
    }
    if (most != nullptr) chosen.push_back(most);
  }

  const std::vector<PlacedPass>& passes_;
  bool draft_;
};

void SetByLetters(const std::vector<PlacedPass>& passes, bool draft, LayerStructure& out) {
  const std::vector<uint32_t> types = ModelTypes(passes, draft).Combine();
  if (types.empty()) return;
  // Letters go on where types that have them exist already; the config's are no letters.
  const auto first = static_cast<uint32_t>(out.types.size());
  const size_t n = *std::max_element(types.begin(), types.end()) + size_t{1};
  size_t letter = 0;
  for (size_t i = 0; i < n; ++letter) {
    const std::string name = Letters(letter);
    if (std::find(out.types.begin(), out.types.end(), name) != out.types.end()) continue;
    out.types.push_back(name);
    ++i;
  }
  for (Layer& layer : out.layers) {
    if ((out.passes[layer.pass.index()].kind == PassKind::kDraft) != draft) continue;
    const auto index = static_cast<size_t>(std::max(layer.index, 0));
    layer.type = first + (index < types.size() ? types[index] : 0);
  }
}

void WarnOfUnlikeLayers(const std::vector<PlacedPass>& passes, const model::ModelConfig& config,
                        LayerStructure& out) {
  std::map<std::string, std::set<uint32_t>> parts_of_type;
  for (const PlacedPass* pass : ModelTypes(passes, false).Representatives()) {
    const Partition partition = PartitionOf(*pass);
    std::map<std::string, std::set<uint32_t>> here;
    for (size_t i = 0; i < partition.size(); ++i) {
      const auto index = static_cast<size_t>(std::max(pass->layers[i].index, 0));
      if (index < config.layers.size()) here[config.layers[index].type].insert(partition[i]);
    }
    for (auto& [type, parts] : here) {
      if (parts.size() > parts_of_type[type].size()) parts_of_type[type] = std::move(parts);
    }
  }
  std::vector<std::string> unlike;
  for (const auto& [type, parts] : parts_of_type) {
    if (parts.size() > 1) unlike.push_back(fmt::format("{} ({} sequences)", type, parts.size()));
  }
  if (unlike.empty()) return;
  out.warnings.push_back({"layer_kernels_differ", table::Severity::kInfo,
                          static_cast<int64_t>(unlike.size()),
                          fmt::format("layers of one config type run different kernels: {}",
                                      fmt::join(unlike, ", "))});
}

bool SetByConfig(const model::ModelConfig* config, LayerStructure& out) {
  if (config == nullptr || config->layers.empty()) return false;
  if (out.layers_per_pass && *out.layers_per_pass != config->num_layers) return false;
  const auto is_beyond = [&](const Layer& layer) {
    return out.passes[layer.pass.index()].kind != PassKind::kDraft &&
           layer.index >= static_cast<int32_t>(config->layers.size());
  };
  // More layers than the config has are another model's.
  if (std::any_of(out.layers.begin(), out.layers.end(), is_beyond)) return false;
  std::map<std::string, uint32_t> known;
  std::vector<uint32_t> type_of;
  for (const model::PlannedLayer& planned : config->layers) {
    const auto [at, is_new] =
        known.try_emplace(planned.type, static_cast<uint32_t>(out.types.size()));
    if (is_new) out.types.push_back(planned.type);
    type_of.push_back(at->second);
  }
  for (Layer& layer : out.layers) {
    const auto index = static_cast<size_t>(std::max(layer.index, 0));
    if (out.passes[layer.pass.index()].kind == PassKind::kDraft) continue;
    layer.type = type_of[index];
    layer.ratio = config->layers[index].ratio;
  }
  return true;
}

}  // namespace

void AssignTypes(const model::ModelConfig* config, const std::vector<PlacedPass>& passes,
                 LayerStructure& out) {
  if (out.layers.empty()) return;
  if (SetByConfig(config, out)) {
    WarnOfUnlikeLayers(passes, *config, out);
  } else {
    SetByLetters(passes, false, out);
  }
  SetByLetters(passes, true, out);
  if (out.types.empty()) out.types.emplace_back("A");
}

}  // namespace layerscope::layers
