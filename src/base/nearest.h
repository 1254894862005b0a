#pragma once

#include <span>
#include <string>
#include <string_view>

namespace layerscope::base {

/// The candidate with the smallest edit distance to `word` (insertions, deletions, substitutions,
/// swaps of neighbours), or empty when none is near enough to be what was meant: more than a third
/// of the longer word's letters, and at least two, would have to change. A word of three letters
/// and more that begins a candidate means that one, the shortest of them.
std::string_view Nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'wall'?" for the nearest candidate, or empty.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

}  // namespace layerscope::base
