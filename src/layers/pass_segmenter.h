#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/hash.h"
#include "src/layers/find_layers.h"
#include "src/layers/pass_group.h"
#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// Whose anchor the tokens marked `anchor` are.
struct AnchorSource {
  bool user = false;     ///< given: it must fit, or the cut is refused
  bool profile = false;  ///< the profile's: what that says of blocks and extra anchors holds
  /// The profile's anchor only proposes itself: a cut by it counts where the pass verifies it
  /// (formats/profiles.md, "Given"), and nowhere does it insist on opening a block.
  bool is_candidate = false;
  bool any() const { return user || profile; }
};

/// Cuts passes, equal kernel sequences only once: by the user's anchor, else by the profile's where
/// the pass verifies it, else by repetition. The tokens of the groups must outlive this.
class PassSegmenter {
 public:
  PassSegmenter(const LayerOptions& options, AnchorSource source)
      : options_(options), source_(source) {}

  /// What is known of one pass.
  struct Question {
    bool may_be_cut_first = false;
    bool may_be_cut_last = false;
    bool is_whole = true;      ///< of the target model: the user's anchor must fit it
    bool only_anchor = false;  ///< where the user gives one, nothing else is tried
    bool knows_plan = true;    ///< the config speaks of it (false: a draft model)
    std::optional<int64_t> num_layers;
    friend bool operator==(const Question&, const Question&) = default;
  };

  const Segmentation& Segment(const PassGroup& group, const Question& question);

 private:
  struct Known {
    std::span<const Token> tokens;
    Question question;
    Segmentation segmentation;
  };

  std::string_view CountSource(std::optional<int64_t> num_layers) const;
  Segmentation Cut(std::span<const Token> tokens, const Question& question) const;

  const LayerOptions& options_;
  AnchorSource source_;
  std::deque<Known> known_;
  Segmentation no_order_;  ///< the answer for a pass whose kernels have no order
  tsl::robin_map<uint64_t, std::vector<size_t>, base::MixHash> by_hash_;
};

}  // namespace layerscope::layers
