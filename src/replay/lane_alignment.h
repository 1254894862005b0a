#pragma once

#include <cstdint>
#include <optional>
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
/// lanes is a path from the first to the last. Where chains are held, a state also says on which
/// lane each chain runs that has begun and not ended.
class LaneAlignment {
 public:
  /// Without `fits` equal symbols match.
  LaneAlignment(std::span<const Element> replayed, std::span<const Element> recorded,
                const SkipCosts& costs, const SymbolFits* fits = nullptr);

  /// Finds the best ways within the band. False: too many states (a million), or too many lanes.
  bool Search(const DifferenceBand& band);
  uint32_t best() const { return best_; }
  /// Of all that was done, in cells of a table of one lane.
  int64_t work() const { return work_; }
  /// After a Search that found a way: what every best way does with every replayed element; of an
  /// element with two places what those do that hold the chains, if there are any.
  PlacementVotes Votes(Places places);
  /// What those of them do that hold the chains; absent where there are none. After it the states
  /// of the search are gone.
  std::optional<PlacementVotes> HeldVotes(Places places);

 private:
  struct Lane {
    std::vector<uint32_t> elements;  // positions in the replayed sequence
    std::vector<int64_t> n_kernels;  // before each element
    uint64_t step = 1;               // what one element adds to a key
  };
  struct State {
    uint64_t key = 0;    // mixed radix: the number of elements taken from each lane
    uint32_t homes = 0;  // mixed radix: the lane of each open chain, counted from 1; 0: none yet
    uint32_t from_start = kNoPath;
    uint32_t to_end = kNoPath;
    bool IsAt(uint64_t at_key, uint32_t at_homes) const {
      return key == at_key && homes == at_homes;
    }
  };
  using Layer = std::vector<State>;  // by key and homes
  /// Where the chain of a recorded element stands in the homes of a state.
  struct Link {
    uint32_t step = 0;  // what one lane adds to the homes; 0: of no chain
    bool last = false;  // of its chain
  };

  bool Match(const Element& replayed, const Element& recorded) const {
    return fits_ == nullptr ? replayed.symbol == recorded.symbol
                            : fits_->Fit(replayed.symbol, recorded.symbol);
  }
  size_t Taken(const Lane& lane, uint64_t key) const {
    return key / lane.step % (lane.elements.size() + 1);
  }
  void FindChains();
  /// The homes behind a recorded element that a lane took (kNoLane: none did); kNoHomes where its
  /// chain runs on another lane.
  uint32_t HomesAfter(size_t recorded, uint32_t homes, size_t lane) const;
  bool SearchLayers(const DifferenceBand& band);
  void Vote(PlacementVotes& votes);
  bool InBand(uint64_t key, size_t recorded, const DifferenceBand& band) const;
  bool Expand(size_t recorded, std::vector<State>& arriving, const DifferenceBand& band);
  void VoteState(size_t recorded, State& state, PlacementVotes& votes);
  static uint32_t ToEnd(const Layer& layer, uint64_t key, uint32_t homes);

  std::span<const Element> replayed_;
  std::span<const Element> recorded_;
  const SkipCosts costs_;
  const SymbolFits* fits_;
  std::vector<Lane> lanes_;
  std::vector<int64_t> n_recorded_kernels_;  // before each position
  uint64_t last_key_ = 0;
  bool too_many_lanes_ = false;
  std::vector<Link> links_;  // by recorded position; empty: no chain is known, or too many at once
  bool holds_chains_ = false;
  DifferenceBand band_;        // of the last Search
  std::vector<Layer> layers_;  // by recorded position
  uint32_t best_ = kNoPath;
  int64_t work_ = 0;
};

}  // namespace layerscope::replay
