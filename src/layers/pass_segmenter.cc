#include "src/layers/pass_segmenter.h"

#include <algorithm>

namespace layerscope::layers {
namespace {

uint64_t HashOf(std::span<const Token> tokens) {
  uint64_t hash = tokens.size();
  for (const Token& token : tokens) {
    hash = base::Mix(hash ^ (uint64_t{token.name} * 2 + (token.seam_before ? 1 : 0)));
  }
  return hash;
}

bool SameSequence(std::span<const Token> a, std::span<const Token> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Token& x, const Token& y) {
    return x.name == y.name && x.seam_before == y.seam_before;
  });
}

}  // namespace

const Segmentation& PassSegmenter::Segment(const PassGroup& group, const Question& question) {
  if (group.no_order) {
    Segmentation& withheld = no_order_;
    withheld.abstained_code = "no_order";
    withheld.why_not = "all kernels of this pass start at the same time: their order is unknown";
    withheld.how = "record the trace again, with the times of its kernels";
    return withheld;
  }
  std::vector<size_t>& alike = by_hash_[HashOf(group.tokens)];
  for (const size_t i : alike) {
    const Known& known = known_[i];
    if (known.question == question && SameSequence(known.tokens, group.tokens)) {
      return known.segmentation;
    }
  }
  alike.push_back(known_.size());
  known_.push_back({group.tokens, question, Cut(group.tokens, question)});
  return known_.back().segmentation;
}

std::string_view PassSegmenter::CountSource(std::optional<int64_t> num_layers) const {
  if (!num_layers) return {};
  if (options_.num_layers == num_layers) return "--num-layers";
  if (options_.config != nullptr && options_.config->num_layers == *num_layers) return "the config";
  return "another pass";
}

Segmentation PassSegmenter::Cut(std::span<const Token> tokens, const Question& question) const {
  SegmentHints hints;
  hints.num_layers = question.num_layers;
  hints.count_source = CountSource(question.num_layers);
  if (options_.config != nullptr && question.knows_plan) hints.plan = options_.config->layers;
  hints.may_be_cut_first = question.may_be_cut_first;
  hints.may_be_cut_last = question.may_be_cut_last;
  const bool anchored =
      source_.any() &&
      std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.anchor; });
  if (anchored) {
    SegmentHints with_anchor = hints;
    with_anchor.of_user = source_.user;
    with_anchor.blocks_per_layer = options_.blocks_per_layer;
    with_anchor.anchor_offset = options_.anchor_offset;
    with_anchor.anchor_is_boundary = options_.anchor_is_boundary;
    if (source_.profile) {
      const model::Profile& profile = *options_.profile;
      // The user's anchor may match more than the profile's does (norms of queries and keys): then
      // what stands in a layer is counted, not asked for.
      if (!source_.user) {
        with_anchor.blocks_per_layer = options_.blocks_per_layer.value_or(profile.blocks_per_layer);
        with_anchor.extra_anchors = profile.anchor.extra_per_pass;
      }
      with_anchor.helpers_before = profile.anchor.helpers_before;
      // Where helpers stand before it, moving back to what opens the layer would take them along.
      with_anchor.anchor_is_boundary |= !source_.is_candidate && profile.anchor.boundary &&
                                        !profile.anchor.helpers_before.empty();
    }
    const bool given = source_.user && question.is_whole;
    Segmentation cut = SegmentByAnchor(tokens, with_anchor, given);
    const bool unverified =
        source_.is_candidate && !source_.user && cut.ok() && cut.confidence < kConfident;
    if ((cut.ok() && !unverified) || given || (source_.user && question.only_anchor)) return cut;
  }
  return SegmentByRepetition(tokens, hints);
}

}  // namespace layerscope::layers
