#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/replay/lane_alignment.h"
#include "src/replay/placement_votes.h"
#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {

/// Lays the lanes of a replay over a recording that names no kernels. Replayed symbols are kernel
/// names, recorded ones are labels: one label launches one kernel, but which is not known. It is
/// learned: what is certain teaches it, and with that the lanes are laid again. At the end the
/// chains teach too.
class LabelLanes {
 public:
  /// The spans outlive this. `fits`: which kernels a label may launch at all.
  LabelLanes(std::span<const Element> replayed, std::span<const Element> recorded, Places places,
             SymbolFits fits);

  /// False: there is no way, or too many.
  bool Lay();
  /// By replayed position: the recorded one, or kUnmatched where several fit.
  const std::vector<uint32_t>& recorded_of() const { return recorded_of_; }
  int64_t work() const { return work_; }

 private:
  bool LayOnce();
  bool TeachByChains();
  void Teach(const PlacementVotes& votes);

  std::span<const Element> replayed_;
  std::span<const Element> recorded_;
  const Places places_;
  const SkipCosts costs_;
  SymbolFits fits_;
  PlacementVotes votes_;
  std::vector<uint32_t> recorded_of_;
  size_t n_certain_ = 0;
  int64_t work_ = 0;
};

}  // namespace layerscope::replay
