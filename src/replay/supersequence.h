#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace layerscope::replay {

/// The shortest sequence that has both `a` and `b` as subsequences, where it is not longer than
/// `longest` and is the only one of its length. None too where finding it out would fill more than
/// `max_cells` cells. O(n * d) time and memory, d the elements that `longest` allows on one side
/// alone.
std::optional<std::vector<uint32_t>> OnlySupersequence(std::span<const uint32_t> a,
                                                       std::span<const uint32_t> b, size_t longest,
                                                       size_t max_cells);

/// Is `part` a subsequence of `whole`?
bool IsSubsequence(std::span<const uint32_t> part, std::span<const uint32_t> whole);

}  // namespace layerscope::replay
