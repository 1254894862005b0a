#include "src/layers/edge_layers.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace layerscope::layers {
namespace {

enum class Edge : uint8_t { kBeginning, kEnd };

std::span<const Token> TokensOf(const PlacedPass& pass, const PlacedLayer& layer) {
  return std::span<const Token>(pass.group->tokens).subspan(layer.begin, layer.end - layer.begin);
}

bool SameName(const Token& a, const Token& b) {
  return a.name == b.name;
}

/// How many kernels two layers have in common, counted from the side that the edge does not cut.
size_t CountCommon(std::span<const Token> a, std::span<const Token> b, Edge edge) {
  const size_t n = std::min(a.size(), b.size());
  if (edge == Edge::kEnd) {
    return static_cast<size_t>(
        std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin(), SameName)
            .first -
        a.begin());
  }
  return static_cast<size_t>(
      std::mismatch(a.rbegin(), a.rbegin() + static_cast<std::ptrdiff_t>(n), b.rbegin(), SameName)
          .first -
      a.rbegin());
}

/// How a layer at an edge stands to those that it is compared with.
class LayerAtEdge {
 public:
  LayerAtEdge(std::span<const Token> tokens, Edge edge) : tokens_(tokens), edge_(edge) {}

  void CompareWith(std::span<const Token> like) {
    if (like.empty() || tokens_.empty()) return;
    const bool all = CountCommon(tokens_, like, edge_) == tokens_.size();
    equal_ = equal_ || (all && like.size() == tokens_.size());
    part_ = part_ || (all && like.size() > tokens_.size());
    const bool outer = edge_ == Edge::kBeginning ? SameName(tokens_.front(), like.front())
                                                 : SameName(tokens_.back(), like.back());
    same_outer_ = same_outer_ || outer;
    shortest_ = n_seen_++ == 0 ? like.size() : std::min(shortest_, like.size());
  }

  bool Decided() const { return equal_ || part_; }
  /// It is a part of one of its like and equals none; where no two layers are quite alike, it is
  /// shorter than all of them and none has its outermost kernel there.
  bool IsCut() const {
    if (Decided()) return !equal_;
    return n_seen_ > 0 && tokens_.size() < shortest_ && !same_outer_;
  }

 private:
  std::span<const Token> tokens_;
  Edge edge_;
  bool equal_ = false;
  bool part_ = false;
  bool same_outer_ = false;
  size_t shortest_ = 0;
  size_t n_seen_ = 0;
};

bool IsCut(const std::vector<const PlacedPass*>& references, const PlacedPass& pass,
           const PlacedLayer& layer, Edge edge) {
  LayerAtEdge at_edge(TokensOf(pass, layer), edge);
  for (const PlacedPass* whole : references) {
    if (whole == &pass) continue;
    for (const PlacedLayer& like : whole->layers) {
      if (like.index == layer.index && !like.cut) at_edge.CompareWith(TokensOf(*whole, like));
    }
    if (at_edge.Decided()) return at_edge.IsCut();
  }
  for (const PlacedLayer& like : pass.layers) {
    if (&like != &layer && !like.cut) at_edge.CompareWith(TokensOf(pass, like));
  }
  return at_edge.IsCut();
}

}  // namespace

void MarkCutLayers(const std::vector<const PlacedPass*>& references, PlacedPass& pass) {
  if (pass.layers.empty()) return;
  PlacedLayer& first = pass.layers.front();
  if (pass.group->began_before && first.begin == 0 && !first.cut) {
    first.cut = IsCut(references, pass, first, Edge::kBeginning);
  }
  PlacedLayer& last = pass.layers.back();
  if (pass.group->may_be_cut_last && last.end == pass.n_tokens && !last.cut) {
    last.cut = IsCut(references, pass, last, Edge::kEnd);
  }
}

}  // namespace layerscope::layers
