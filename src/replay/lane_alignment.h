#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/replay/placement_votes.h"
#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {

/// Which symbols of the replayed side may stand for which of the recorded one.
struct SymbolFits {
  std::vector<uint8_t> fits;  ///< by replayed symbol * n_recorded + recorded symbol
  uint32_t n_recorded = 0;
  bool Fit(uint32_t replayed, uint32_t recorded) const {
    return fits[size_t{replayed} * n_recorded + recorded] != 0;
  }
};

/// Lays several lanes over one recorded sequence that is an interleaving of them. A state says how
/// far each lane has come; states are kept by recorded position, so that every way of laying the
/// lanes is a path from the first to the last.
class LaneAlignment {
 public:
  /// Without `fits` equal symbols match.
  LaneAlignment(std::span<const Element> replayed, std::span<const Element> recorded,
                const SkipCosts& costs, const SymbolFits* fits = nullptr);

  /// Finds the best ways within the band. False: too many states (a million), or too many lanes.
  bool Search(const DifferenceBand& band);
  uint32_t best() const { return best_; }
  /// Of the last Search, in cells of a table of one lane.
  int64_t work() const { return work_; }
  /// After Search: what every best way does with every replayed element.
  void Vote(PlacementVotes& votes);

 private:
  struct Lane {
    std::vector<uint32_t> elements;  // positions in the replayed sequence
    std::vector<int64_t> n_kernels;  // before each element
    uint64_t step = 1;               // what one element adds to a key
  };
  struct State {
    uint64_t key = 0;  // mixed radix: the number of elements taken from each lane
    uint32_t from_start = kNoPath;
    uint32_t to_end = kNoPath;
  };
  using Layer = std::vector<State>;  // by key

  bool Match(const Element& replayed, const Element& recorded) const {
    return fits_ == nullptr ? replayed.symbol == recorded.symbol
                            : fits_->Fit(replayed.symbol, recorded.symbol);
  }
  size_t Taken(const Lane& lane, uint64_t key) const {
    return key / lane.step % (lane.elements.size() + 1);
  }
  bool InBand(uint64_t key, size_t recorded, const DifferenceBand& band) const;
  bool Expand(size_t recorded, std::vector<State>& arriving, const DifferenceBand& band);
  void VoteState(size_t recorded, State& state, PlacementVotes& votes);
  static uint32_t ToEnd(const Layer& layer, uint64_t key);

  std::span<const Element> replayed_;
  std::span<const Element> recorded_;
  const SkipCosts costs_;
  const SymbolFits* fits_;
  std::vector<Lane> lanes_;
  std::vector<int64_t> n_recorded_kernels_;  // before each position
  uint64_t last_key_ = 0;
  bool too_many_lanes_ = false;
  std::vector<Layer> layers_;  // by recorded position
  uint32_t best_ = kNoPath;
  int64_t work_ = 0;
};

}  // namespace layerscope::replay
