#include "src/layers/partial_pass.h"

#include <algorithm>
#include <vector>

namespace layerscope::layers {
namespace {

bool SameName(const Token& a, const Token& b) {
  return a.name == b.name;
}

}  // namespace

size_t OverlapWithEnd(std::span<const Token> rest, std::span<const Token> whole) {
  // Knuth, Morris, Pratt 1977: the failure function of `rest`, run over the end of `whole`.
  std::vector<size_t> border(rest.size(), 0);
  for (size_t i = 1; i < rest.size(); ++i) {
    size_t k = border[i - 1];
    while (k > 0 && !SameName(rest[i], rest[k])) k = border[k - 1];
    border[i] = SameName(rest[i], rest[k]) ? k + 1 : 0;
  }
  if (rest.empty()) return 0;
  const size_t skip = whole.size() - std::min(whole.size(), rest.size());
  size_t matched = 0;
  for (const Token& token : whole.subspan(skip)) {
    if (matched == rest.size()) matched = border[matched - 1];
    while (matched > 0 && !SameName(token, rest[matched])) matched = border[matched - 1];
    if (SameName(token, rest[matched])) ++matched;
  }
  return matched;
}

bool IsBeginning(std::span<const Token> part, std::span<const Token> whole) {
  return part.size() <= whole.size() &&
         std::equal(part.begin(), part.end(), whole.begin(), SameName);
}

}  // namespace layerscope::layers
