#include "src/layers/pass_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/hash.h"
#include "src/layers/anchor_residue.h"
#include "src/layers/capture_groups.h"
#include "src/layers/edge_layers.h"
#include "src/layers/layer_likeness.h"
#include "src/layers/partial_pass.h"
#include "src/layers/placed_layers.h"

namespace layerscope::layers {
namespace {

/// A cut that only holds with what other passes or a contradicted config say is never sure.
constexpr double kBorrowed = 0.65;
constexpr double kContradicted = 0.5;
/// A draft's one layer repeats nothing: nine of ten kernels are those of a layer that is known, but
/// where it ends is that layer's word.
constexpr double kLaidOver = 0.65;
/// Whole passes with different kernels that a cut one is compared with.
constexpr size_t kMostReferences = 16;

bool HasMixer(std::span<const Token> tokens) {
  return std::any_of(tokens.begin(), tokens.end(), IsMixer);
}

class Placer {
 public:
  Placer(const trace::Trace& trace, const std::vector<PassGroup>& groups,
         const LayerOptions& options, AnchorSource source)
      : trace_(trace), options_(options), user_anchor_(source.user), segmenter_(options, source) {
    hint_ = options.num_layers;
    if (!hint_ && options.config != nullptr) hint_ = options.config->num_layers;
    for (const PassGroup& group : groups) {
      PlacedPass& pass = passes_.emplace_back();
      pass.group = &group;
      pass.n_tokens = static_cast<uint32_t>(group.tokens.size());
      pass.note = group.note;
    }
  }

  base::Result<Placement> Place() {
    for (PlacedPass& pass : passes_) {
      if (!IsEdge(pass)) PlaceWhole(pass, HintFor(pass));
    }
    Agree(true);
    Agree(false);
    for (const Residue& residue : FindResidues(passes_)) Refuse(residue);
    for (PlacedPass& pass : passes_) {
      if (!pass.group->may_be_cut_last || pass.group->began_before) continue;
      PlaceLast(pass);
      MarkCutLayers(References(pass.is_draft()), pass);
    }
    if (!n_layers_) n_layers_ = FromEdges();
    for (PlacedPass& pass : passes_) {
      if (!pass.group->began_before) continue;
      PlaceRest(pass);
      MarkCutLayers(References(pass.is_draft()), pass);
    }
    if (!n_layers_ && hint_ && MostLayers() <= *hint_) n_layers_ = hint_;
    if (rejection_) return *rejection_;
    PlaceDrafts();
    CheckHint();
    for (PlacedPass& pass : passes_) Finish(pass);
    std::erase_if(passes_, [](const PlacedPass& pass) { return IsNoPass(pass); });
    return Placement{std::move(passes_), n_layers_, std::move(warnings_)};
  }

 private:
  static bool IsEdge(const PlacedPass& pass) {
    return pass.group->began_before || pass.group->may_be_cut_last;
  }
  static bool HasCut(const PlacedPass& pass) {
    return std::any_of(pass.layers.begin(), pass.layers.end(),
                       [](const PlacedLayer& layer) { return layer.cut; });
  }
  bool HasLayers() const {
    return std::any_of(passes_.begin(), passes_.end(), [](const PlacedPass& pass) {
      return !pass.layers.empty() && !pass.is_draft();
    });
  }
  /// Of a pass of the target, cut layers among them.
  int64_t MostLayers() const {
    size_t most = 0;
    for (const PlacedPass& pass : passes_) {
      if (!pass.is_draft()) most = std::max(most, pass.layers.size());
    }
    return static_cast<int64_t>(most);
  }
  std::optional<int64_t> HintFor(const PlacedPass& pass) const {
    return pass.is_draft() ? std::nullopt : hint_;
  }

  static PassSegmenter::Question QuestionOf(const PlacedPass& pass,
                                            std::optional<int64_t> num_layers) {
    PassSegmenter::Question question;
    question.is_whole = !pass.is_draft() && !pass.group->began_before;
    question.knows_plan = !pass.is_draft();
    question.num_layers = num_layers;
    return question;
  }

  /// True: the cut may be used. Else says in the pass why not.
  bool Accept(const Segmentation& cut, PlacedPass& pass) {
    if (!cut.rejected.empty()) {
      if (!rejection_) {
        const auto index = static_cast<size_t>(&pass - passes_.data());
        rejection_ =
            base::Error{base::ErrorCode::kFailed, fmt::format("pass {}: {}", index, cut.rejected),
                        cut.rejected_hint};
      }
      pass.abstained = {"anchor_rejected", cut.rejected, cut.rejected_hint};
      return false;
    }
    if (cut.ok() && cut.confidence >= kShown) return true;
    pass.abstained = {cut.abstained_code, cut.why_not, cut.how};
    if (cut.ok()) pass.abstained.why = cut.why;
    if (pass.abstained.code.empty()) pass.abstained.code = "ambiguous_layers";
    return false;
  }

  void PlaceWhole(PlacedPass& pass, std::optional<int64_t> num_layers) {
    if (pass.group->is_capture() && !NamesItsKernels(trace_, *pass.group)) {
      pass.abstained = {"unnamed_capture", "the captured launches do not name their kernels",
                        "give the trace of a replay (ROCm captures name them)"};
      return;
    }
    const Segmentation& cut = segmenter_.Segment(*pass.group, QuestionOf(pass, num_layers));
    if (Accept(cut, pass)) TakeLayers(cut, 0, pass);
  }

  /// Passes of one model have equally many layers: those that do not are asked again with the count
  /// of the others, else they show none.
  void Agree(bool target) {
    std::map<int64_t, std::pair<size_t, size_t>> votes;  // layers: sure passes, all passes
    for (const PlacedPass& pass : passes_) {
      if (IsEdge(pass) || pass.is_draft() == target || pass.layers.empty()) continue;
      auto& [n_sure, n_all] = votes[static_cast<int64_t>(pass.layers.size())];
      n_sure += pass.confidence >= kConfident ? 1 : 0;
      ++n_all;
    }
    if (votes.empty()) return;
    const auto best =
        std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second, a.first) < std::pair(b.second, b.first);
        });
    const int64_t n_layers = best->first;
    (target ? n_layers_ : n_draft_layers_) = n_layers;
    for (PlacedPass& pass : passes_) {
      if (IsEdge(pass) || pass.is_draft() == target) continue;
      if (static_cast<int64_t>(pass.layers.size()) != n_layers) AskAgain(pass, n_layers);
    }
  }

  void Refuse(const Residue& residue) {
    PlacedPass& pass = passes_[residue.pass];
    pass.confidence = std::min(pass.confidence, kContradicted);
    if (!user_anchor_ || rejection_) return;
    rejection_ = base::Error{
        base::ErrorCode::kFailed,
        fmt::format("pass {}: its anchors are not {} layers x {} as in its like: residue {}",
                    residue.pass, pass.layers.size(), *pass.anchors_per_layer, residue.n_anchors),
        "likely causes: a draft model's or MTP layers in the pass, micro-batches, a cut window; "
        "try another --anchor-kernel, or --step"};
  }

  void AskAgain(PlacedPass& pass, int64_t n_layers) {
    const size_t n_found = pass.layers.size();
    pass.layers.clear();
    PlaceWhole(pass, n_layers);
    if (static_cast<int64_t>(pass.layers.size()) == n_layers) {
      pass.confidence = std::min(pass.confidence, kBorrowed);
      return;
    }
    Withhold(pass, n_found, n_layers);
  }

  void Withhold(PlacedPass& pass, size_t n_found, int64_t n_layers) {
    pass.layers.clear();
    if (n_found == 0) return;
    AddNote(pass, fmt::format("layers withheld: {} found, {} in its like", n_found, n_layers));
    pass.abstained = {"layer_count_differs",
                      fmt::format("{} layers are found where its like have {}", n_found, n_layers),
                      "give --num-layers N, --config or --anchor-kernel"};
  }

  static void AddNote(PlacedPass& pass, const std::string& note) {
    pass.note += (pass.note.empty() ? "" : "; ") + note;
  }

  /// Whole passes with different kernel sequences, by how they were cut.
  std::vector<const PlacedPass*> References(bool draft) const {
    std::vector<const PlacedPass*> found;
    std::set<uint64_t> seen;
    for (const PlacedPass& pass : passes_) {
      const std::optional<int64_t>& n_layers = draft ? n_draft_layers_ : n_layers_;
      if (pass.layers.empty() || pass.is_draft() != draft || HasCut(pass)) continue;
      if (n_layers && static_cast<int64_t>(pass.layers.size()) != *n_layers) continue;
      uint64_t hash = pass.n_tokens;
      for (const Token& token : pass.group->tokens) hash = base::Mix(hash ^ token.name);
      if (seen.insert(hash).second) found.push_back(&pass);
      if (found.size() == kMostReferences) break;
    }
    return found;
  }

  /// The last pass: the beginning of one like it, else whole, else cut.
  void PlaceLast(PlacedPass& pass) {
    if (PlaceBeginning(pass, References(pass.is_draft()))) return;
    const std::optional<int64_t>& like = pass.is_draft() ? n_draft_layers_ : n_layers_;
    PassSegmenter::Question question = QuestionOf(pass, like ? like : HintFor(pass));
    question.is_whole = false;
    question.only_anchor = true;
    // With no number of layers, kernels behind the last layer may be those of a cut one.
    question.may_be_cut_last = !question.num_layers;
    const Segmentation& cut = segmenter_.Segment(*pass.group, question);
    const bool fits =
        like ? static_cast<int64_t>(cut.begin.size()) == *like : !cut.ok() || !cut.cut_last;
    if (fits && Accept(cut, pass)) return TakeLayers(cut, 0, pass);
    PlaceEdgeAlone(pass);
  }

  void PlaceRest(PlacedPass& pass) {
    if (!PlaceRest(pass, References(pass.is_draft()))) PlaceEdgeAlone(pass);
  }

  bool PlaceRest(PlacedPass& pass, const std::vector<const PlacedPass*>& references) {
    const std::span<const Token> tokens = pass.group->tokens;
    const PlacedPass* best = nullptr;
    size_t overlap = 0;
    for (const PlacedPass* whole : references) {
      const size_t n = OverlapWithEnd(tokens, whole->group->tokens);
      if (n > overlap) std::tie(best, overlap) = std::pair(whole, n);
    }
    if (best == nullptr || HasMixer(tokens.subspan(overlap))) return false;
    const uint32_t from = best->n_tokens - static_cast<uint32_t>(overlap);
    TakeWindow(*best, from, best->n_tokens, pass);
    pass.n_tokens = static_cast<uint32_t>(overlap);
    return true;
  }

  bool PlaceBeginning(PlacedPass& pass, const std::vector<const PlacedPass*>& references) {
    const std::span<const Token> tokens = pass.group->tokens;
    for (const PlacedPass* whole : references) {
      if (!IsBeginning(tokens, whole->group->tokens)) continue;
      TakeWindow(*whole, 0, pass.n_tokens, pass);
      return true;
    }
    return false;
  }

  /// Without a like one: its own repetition, counted from the end that lies inside the window.
  void PlaceEdgeAlone(PlacedPass& pass) {
    const std::optional<int64_t>& like = pass.is_draft() ? n_draft_layers_ : n_layers_;
    const std::optional<int64_t> known = like ? like : HintFor(pass);
    const bool rest = pass.group->began_before;
    // Told the count, a rest would be stretched to fit.
    PassSegmenter::Question question = QuestionOf(pass, rest ? std::nullopt : known);
    question.may_be_cut_first = rest;
    question.may_be_cut_last = pass.group->may_be_cut_last;
    const Segmentation& cut = segmenter_.Segment(*pass.group, question);
    if (!Accept(cut, pass)) return;
    const auto n = static_cast<int64_t>(cut.begin.size());
    const int64_t n_with_cut = n + (cut.cut_first ? 1 : 0);
    if (like && n_with_cut > *like) {
      return Withhold(pass, static_cast<size_t>(n_with_cut), *like);
    }
    const bool from_end = rest && known && n_with_cut <= *known;
    TakeLayers(cut, static_cast<int32_t>(from_end ? *known - n : (cut.cut_first ? 1 : 0)), pass);
    if (!like || n != *like || cut.cut_first) {
      pass.confidence = std::min(pass.confidence, kBorrowed);
    }
  }

  /// The count of layers when every pass stands at an edge: of one that is not cut.
  std::optional<int64_t> FromEdges() const {
    for (const PlacedPass& pass : passes_) {
      if (pass.is_draft() || pass.layers.empty() || HasCut(pass)) continue;
      if (pass.group->began_before) continue;
      return static_cast<int64_t>(pass.layers.size());
    }
    return std::nullopt;
  }

  /// A draft model of one layer repeats nothing. Where that layer is one of the target's in all but
  /// name (an MTP layer), the target's is laid over it.
  void PlaceDrafts() {
    if (n_draft_layers_) return;
    const std::vector<const PlacedPass*> references = References(false);
    for (PlacedPass& pass : passes_) {
      if (!pass.is_draft() || CountMixerRuns(pass.group->tokens) != 1) continue;
      LayOver(references, pass);
    }
  }

  /// Of the last layers of whole passes the one with most kernels in common: phases differ.
  void LayOver(const std::vector<const PlacedPass*>& references, PlacedPass& pass) {
    const std::span<const Token> tokens = pass.group->tokens;
    std::ptrdiff_t most = 0;
    for (const PlacedPass* whole : references) {
      const PlacedLayer& last = whole->layers.back();
      const auto layer =
          std::span<const Token>(whole->group->tokens).subspan(last.begin, last.end - last.begin);
      const auto at = FindLayerLike(layer, tokens);
      if (!at) continue;
      std::ptrdiff_t n_alike = 0;
      for (size_t i = 0; i < layer.size(); ++i) {
        n_alike += layer[i].name == tokens[*at + i].name ? 1 : 0;
      }
      if (n_alike <= most) continue;
      most = n_alike;
      pass.layers = {{*at, *at + last.end - last.begin, 0, false, {}}};
      pass.confidence = std::min(whole->confidence, kLaidOver);
      pass.kind = "template";
      pass.abstained = {};
      n_draft_layers_ = 1;
    }
  }

  /// What the user or the config says of the count against what the passes hold.
  void CheckHint() {
    if (!hint_ || !HasLayers()) return;
    const auto full = std::find_if(passes_.begin(), passes_.end(), [&](const PlacedPass& pass) {
      return !pass.is_draft() && static_cast<int64_t>(pass.layers.size()) == *hint_;
    });
    // Where no pass is whole, the longest is no proof of a count, but of more than the hint says.
    const int64_t held = n_layers_.value_or(MostLayers());
    if (full != passes_.end() || held == *hint_) return;
    for (PlacedPass& pass : passes_) {
      if (!pass.is_draft()) pass.confidence = std::min(pass.confidence, kContradicted);
    }
    warnings_.push_back(
        {"layer_count_differs", table::Severity::kWarning, 1,
         fmt::format("{} says {} layers, the passes hold {}{}: another model, or a pipeline stage",
                     options_.num_layers ? "--num-layers" : "the config", *hint_, held,
                     n_layers_ ? "" : " or more")});
  }

  void Finish(PlacedPass& pass) {
    const std::optional<int64_t>& known = pass.is_draft() ? n_draft_layers_ : n_layers_;
    if (pass.group->ffn_across_mixers && !hint_) {
      pass.confidence = std::min(pass.confidence, kContradicted);
    }
    pass.complete =
        known && !HasCut(pass) && static_cast<int64_t>(pass.layers.size()) == *known && *known > 0;
    if (pass.complete || pass.layers.empty()) return;
    if (pass.group->began_before) {
      AddNote(pass, "began before the window");
    } else if (pass.group->may_be_cut_last) {
      AddNote(pass, "cut by the end of the window");
    }
  }

  /// Kernels that no step calls a pass and that have no layers either.
  static bool IsNoPass(const PlacedPass& pass) {
    if (!pass.layers.empty() || pass.group->step.valid() || pass.group->is_capture()) return false;
    return pass.group->began_before || pass.group->few_mixers;
  }

  const trace::Trace& trace_;
  const LayerOptions& options_;
  const bool user_anchor_;
  PassSegmenter segmenter_;
  std::optional<int64_t> hint_;
  std::vector<PlacedPass> passes_;
  std::optional<int64_t> n_layers_;
  std::optional<int64_t> n_draft_layers_;
  std::optional<base::Error> rejection_;
  std::vector<table::HealthEntry> warnings_;
};

}  // namespace

base::Result<Placement> PlacePasses(const trace::Trace& trace, const std::vector<PassGroup>& groups,
                                    const LayerOptions& options, AnchorSource source) {
  return Placer(trace, groups, options, source).Place();
}

}  // namespace layerscope::layers
