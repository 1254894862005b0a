#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::model {

/// The type of a layer with that compress ratio: 0 SWA_ONLY, 4 CSA_C4, 128 HCA_C128 (DeepSeek V4),
/// 2 and 1 V41_C2, V41_C1 (V4.1); others C<ratio>.
std::string TypeOfRatio(int64_t ratio);

/// A character of Nemotron-H's hybrid_override_pattern: MAMBA, ATTN, MLP, MOE; empty for others.
std::string_view TypeOfPatternLetter(char letter);

/// The types of a list of words as configs write them ("full_attention", "sliding_attention",
/// "mamba", …). Words that are not known become types of their own, in capitals. A list that holds
/// feed-forward words (Nemotron-H's "moe", "mlp") has one block a layer: `*one_block`.
std::vector<std::string> TypesOfWords(const std::vector<std::string>& words, bool* one_block);

}  // namespace layerscope::model
