#include "src/analysis/layer_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/analysis/abstentions.h"
#include "src/analysis/not_found.h"
#include "src/base/parse_number.h"
#include "src/layers/find_layers.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using layers::Pass;
using layers::PassPart;

/// What a missing pass or layer means where layers are withheld.
std::optional<base::Error> Withheld(const LayerStructure& structure, std::string_view what) {
  if (!structure.abstained) return std::nullopt;
  return base::Error{
      base::ErrorCode::kNotFound,
      fmt::format("no {} is known in this input: {}", what, structure.abstained->why),
      structure.abstained->how};
}

std::string RangeText(const NumberRange& range) {
  return range.first == range.second ? fmt::format("{}", range.first)
                                     : fmt::format("{}..{}", range.first, range.second);
}

base::Error NoPass(const LayerStructure& structure, const std::string& wanted) {
  if (structure.passes.empty()) {
    if (std::optional<base::Error> error = Withheld(structure, "pass")) return *std::move(error);
  }
  return NotFound("pass", wanted, PassNames(structure));
}

bool IsOf(const Pass& pass, const std::optional<std::string>& phase) {
  return !phase || layers::ToString(pass.kind) == *phase;
}

/// What the default pass is chosen among.
struct Candidates {
  const std::optional<std::string>& phase;
  const PassMask& among;
  bool Has(const LayerStructure& structure, size_t pass) const {
    return IsOf(structure.passes[pass], phase) && (among.empty() || among[pass] != 0);
  }
};

/// The last of the candidates that holds `test`.
template <typename Test>
std::optional<size_t> LastPass(const LayerStructure& structure, const Candidates& candidates,
                               Test test) {
  for (size_t i = structure.passes.size(); i-- > 0;) {
    if (candidates.Has(structure, i) && test(structure.passes[i])) return i;
  }
  return std::nullopt;
}

std::string OfPhase(const std::optional<std::string>& phase) {
  return phase ? " " + *phase : std::string();
}

base::Result<ChosenPass> ChooseDefault(const LayerStructure& structure,
                                       const Candidates& candidates) {
  const std::optional<std::string>& phase = candidates.phase;
  const std::optional<size_t> steady = structure.steady_pass;
  if (steady && *steady < structure.passes.size() && candidates.Has(structure, *steady)) {
    return ChosenPass{*steady, "steady",
                      "the first pass from which layer 0's wall time changes by at most 5 % over "
                      "three passes"};
  }
  const auto runs = [](const Pass& pass) { return pass.kind != layers::PassKind::kCapture; };
  if (const auto whole = LastPass(structure, candidates,
                                  [&](const Pass& pass) { return runs(pass) && pass.complete; })) {
    if (steady) {
      return ChosenPass{*whole,
                        fmt::format("last whole{} pass{}", OfPhase(phase),
                                    candidates.among.empty() ? "" : " of the selection"),
                        fmt::format("the last whole{} pass; the steady one, pass {}, is not of "
                                    "this selection",
                                    OfPhase(phase), *steady)};
    }
    return ChosenPass{*whole, fmt::format("last whole{} pass", OfPhase(phase)),
                      fmt::format("no steady state (it takes three whole passes of one phase and "
                                  "batch whose layer 0 differs by at most 5 %): the last whole{} "
                                  "pass",
                                  OfPhase(phase))};
  }
  if (const auto partial = LastPass(structure, candidates, [&](const Pass& pass) {
        return runs(pass) && pass.n_layers > 0;
      })) {
    return ChosenPass{*partial, "last pass with layers",
                      fmt::format("no{} pass is whole: the last one with layers", OfPhase(phase))};
  }
  if (const auto any = LastPass(structure, candidates, [](const Pass& /*pass*/) { return true; })) {
    return ChosenPass{*any, "last pass", fmt::format("the last{} pass", OfPhase(phase))};
  }
  return phase ? NotFound("phase", *phase, PassNames(structure)) : NoPass(structure, "0");
}

/// Whether a pass of the range has what `choice` names.
bool HasChoice(const LayerStructure& structure, const NumberRange& passes,
               const LayerChoice& choice) {
  if (choice.part != PassPart::kLayer) {
    for (size_t row = 0; row < structure.part.size(); ++row) {
      const layers::PassId pass = structure.pass[row];
      if (!pass.valid() || structure.part[row] != choice.part) continue;
      const auto index = static_cast<int64_t>(pass.index());
      if (passes.first <= index && index <= passes.second) return true;
    }
    return false;
  }
  return std::any_of(structure.layers.begin(), structure.layers.end(), [&](const auto& layer) {
    const auto pass = static_cast<int64_t>(layer.pass.index());
    return passes.first <= pass && pass <= passes.second && choice.first <= layer.index &&
           layer.index <= choice.last;
  });
}

base::Error NoLayer(const LayerStructure& structure, const NumberRange& passes,
                    const std::string& wanted) {
  if (structure.layers.empty()) {
    if (std::optional<base::Error> error = Withheld(structure, "layer")) return *std::move(error);
  }
  int32_t first = -1;
  int32_t last = -1;
  for (const layers::Layer& layer : structure.layers) {
    const auto pass = static_cast<int64_t>(layer.pass.index());
    if (pass < passes.first || pass > passes.second) continue;
    first = first < 0 ? layer.index : std::min(first, layer.index);
    last = std::max(last, layer.index);
  }
  const std::string where =
      fmt::format("pass{} {}", passes.first == passes.second ? "" : "es", RangeText(passes));
  return {
      base::ErrorCode::kNotFound, fmt::format("no layer '{}' in {}", wanted, where),
      last < 0 ? where + " has no layers" : fmt::format("there are layers {} to {}", first, last)};
}

/// What is asked for exists, and the rest of the selection leaves nothing of it.
base::Error NothingHeld(const LayerStructure& structure, const std::vector<uint8_t>& held,
                        const std::optional<NumberRange>& passes,
                        const std::optional<std::string>& layer) {
  std::string what;
  if (layer) {
    const bool is_part = *layer == kHeadName || *layer == kTailName;
    what = is_part ? "the " + *layer : "layer " + *layer;
  }
  if (passes) {
    what += fmt::format("{}pass{} {}", layer ? " of " : "",
                        passes->first == passes->second ? "" : "es", RangeText(*passes));
  } else {
    what += " of any pass";
  }
  PassMask in_rest(structure.passes.size(), 0);
  for (uint32_t row = 0; row < structure.pass.size(); ++row) {
    if (held[row] != 0 && structure.pass[row].valid()) in_rest[structure.pass[row].index()] = 1;
  }
  std::vector<std::string> names;
  const std::vector<std::string> all = PassNames(structure);
  for (size_t i = 0; i < all.size(); ++i) {
    if (in_rest[i] != 0) names.push_back(all[i]);
  }
  base::Error error{base::ErrorCode::kNotFound,
                    fmt::format("the rest of the selection holds nothing of {}", what),
                    "it holds no pass"};
  if (!names.empty()) {
    error.hint = "in it " + NotFound("pass", {}, names).hint;
  }
  return error;
}

}  // namespace

base::Result<LayerChoice> ParseLayerChoice(std::string_view text) {
  if (text == kHeadName) return LayerChoice{PassPart::kHead};
  if (text == kTailName) return LayerChoice{PassPart::kTail};
  const size_t dots = text.find("..");
  const std::optional<int64_t> first = base::ParseWhole(text.substr(0, dots));
  const std::optional<int64_t> last =
      dots == std::string_view::npos ? first : base::ParseWhole(text.substr(dots + 2));
  if (first && last && *first <= *last) return LayerChoice{PassPart::kLayer, *first, *last};
  return base::Error{base::ErrorCode::kUsage,
                     fmt::format("--layer: '{}' is no layer, FIRST..LAST, head or tail", text),
                     "layers are counted from 0: --layer 7, --layer 0..3"};
}

base::Result<const LayerStructure*> StructureOf(const RankInput& rank) {
  if (rank.layers != nullptr) return rank.layers;
  if (rank.no_layers) return *rank.no_layers;
  return base::Error{
      base::ErrorCode::kFailed, "passes and layers were not sought in this input", {}};
}

std::optional<table::Abstention> AbstentionOf(const RankInput& rank) {
  if (rank.layers == nullptr || !rank.layers->abstained) return std::nullopt;
  // A capture ran nothing and may have layers for all that; what is said of it stays.
  if (rank.layers->abstained->code != layers::kNoKernels) return rank.layers->abstained;
  std::optional<table::Abstention> nothing = WithoutGpuWork(rank);
  return nothing ? nothing : rank.layers->abstained;
}

base::Result<ChosenPass> ChoosePass(const RankInput& rank, const std::optional<NumberRange>& passes,
                                    const std::optional<std::string>& phase,
                                    const PassMask& among) {
  base::Result<const LayerStructure*> found = StructureOf(rank);
  if (!found.ok()) return std::move(found).error();
  const LayerStructure& structure = **found;
  if (!passes) return ChooseDefault(structure, {phase, among});
  if (passes->first != passes->second) {
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("--pass {}: one pass is shown at a time", RangeText(*passes)),
                       "give one index, or --all-passes to compare passes"};
  }
  if (passes->first >= static_cast<int64_t>(structure.passes.size())) {
    return NoPass(structure, RangeText(*passes));
  }
  if (const Pass& pass = structure.passes[static_cast<size_t>(passes->first)]; !IsOf(pass, phase)) {
    return base::Error{base::ErrorCode::kNotFound,
                       fmt::format("pass {} is no {} pass but {}", passes->first, *phase,
                                   layers::ToString(pass.kind)),
                       NotFound("pass", {}, PassNames(structure)).hint};
  }
  const std::string why = fmt::format("--pass {}", passes->first);
  return ChosenPass{static_cast<size_t>(passes->first), why, why};
}

bool LayerRows::Contains(uint32_t row) const {
  const layers::PassId pass = structure_->pass[row];
  if (!pass.valid()) return false;
  const auto index = static_cast<int64_t>(pass.index());
  if (index < passes_.first || index > passes_.second) return false;
  if (!layer_) return true;
  if (structure_->part[row] != layer_->part) return false;
  if (layer_->part != PassPart::kLayer) return true;
  const int64_t layer = structure_->layers[structure_->layer[row].index()].index;
  return layer_->first <= layer && layer <= layer_->last;
}

PassMask LayerRows::HeldPasses(const std::vector<uint8_t>& held) const {
  PassMask passes(structure_->passes.size(), 0);
  for (uint32_t row = 0; row < structure_->pass.size(); ++row) {
    if ((held.empty() || held[row] != 0) && Contains(row)) {
      passes[structure_->pass[row].index()] = 1;
    }
  }
  return passes;
}

bool LayerRows::IsMissedBy(const std::vector<uint8_t>& held, const PassMask& among) const {
  if (held.empty() || std::find(among.begin(), among.end(), 1) != among.end()) return false;
  for (uint32_t row = 0; row < structure_->pass.size(); ++row) {
    if (Contains(row)) return true;
  }
  return false;
}

base::Result<LayerRows> ChooseLayerRows(const RankInput& rank,
                                        const std::optional<NumberRange>& passes,
                                        const std::optional<std::string>& layer,
                                        const std::vector<uint8_t>& held) {
  base::Result<const LayerStructure*> found = StructureOf(rank);
  if (!found.ok()) return std::move(found).error();
  const LayerStructure& structure = **found;
  const auto n_passes = static_cast<int64_t>(structure.passes.size());
  LayerRows rows(structure);
  if (passes && passes->first >= n_passes) return NoPass(structure, RangeText(*passes));
  rows.passes_ = passes.value_or(NumberRange(0, n_passes - 1));
  if (layer) {
    base::Result<LayerChoice> choice = ParseLayerChoice(*layer);
    if (!choice.ok()) return std::move(choice).error();
    rows.layer_ = *choice;
  }
  const PassMask among = rows.HeldPasses(held);
  if (rows.IsMissedBy(held, among)) return NothingHeld(structure, held, passes, layer);
  if (!passes) {
    const bool any = std::find(among.begin(), among.end(), 1) != among.end();
    base::Result<ChosenPass> pass = ChoosePass(rank, {}, {}, any ? among : PassMask());
    if (!pass.ok()) return std::move(pass).error();
    rows.passes_ = {static_cast<int64_t>(pass->index), static_cast<int64_t>(pass->index)};
  }
  if (layer && !HasChoice(structure, rows.passes_, *rows.layer_)) {
    return NoLayer(structure, rows.passes_, *layer);
  }
  return rows;
}

base::Result<ChosenPass> PassOfView(const RankView& view) {
  base::Result<const LayerStructure*> found = StructureOf(view.input());
  if (!found.ok()) return std::move(found).error();
  PassMask among((*found)->passes.size(), 0);
  bool any = false;
  for (const uint32_t row : view.rows()) {
    const layers::PassId pass = (*found)->pass[row];
    if (!pass.valid()) continue;
    among[pass.index()] = 1;
    any = true;
  }
  return ChoosePass(view.input(), {}, {}, any ? among : PassMask());
}

std::vector<std::string> PassNames(const LayerStructure& structure) {
  std::vector<std::string> names;
  for (size_t i = 0; i < structure.passes.size(); ++i) {
    names.push_back(fmt::format("{} ({})", i, layers::ToString(structure.passes[i].kind)));
  }
  return names;
}

}  // namespace layerscope::analysis
