#include "src/layers/layer_likeness.h"

namespace layerscope::layers {
namespace {

/// No real layer or one-layer draft model launches more; the comparison costs their product.
constexpr size_t kMostTokens = 2048;

size_t CountUnlike(std::span<const Token> a, std::span<const Token> b, size_t at_most) {
  size_t n = 0;
  for (size_t i = 0; i < a.size() && n <= at_most; ++i) n += a[i].name != b[i].name ? 1 : 0;
  return n;
}

}  // namespace

std::optional<uint32_t> FindLayerLike(std::span<const Token> layer, std::span<const Token> tokens) {
  if (layer.empty() || layer.size() > tokens.size()) return std::nullopt;
  if (layer.size() > kMostTokens || tokens.size() > kMostTokens) return std::nullopt;
  size_t best = layer.size() / 10;
  std::optional<uint32_t> found;
  for (size_t at = 0; at + layer.size() <= tokens.size(); ++at) {
    const size_t n = CountUnlike(layer, tokens.subspan(at, layer.size()), best);
    if (n > best) continue;
    best = n;
    found = static_cast<uint32_t>(at);
  }
  return found;
}

}  // namespace layerscope::layers
