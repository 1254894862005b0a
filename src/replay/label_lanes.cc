#include "src/replay/label_lanes.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace layerscope::replay {
namespace {

/// An answer that more rounds of learning would hardly change.
constexpr int kRounds = 4;
/// Nothing may be on one side alone: the numbers of kernels are equal.
constexpr DifferenceBand kNoDifference{0, 0};

}  // namespace

LabelLanes::LabelLanes(std::span<const Element> replayed, std::span<const Element> recorded,
                       Places places, SymbolFits fits)
    : replayed_(replayed),
      recorded_(recorded),
      places_(places),
      costs_(replayed, recorded, 0),
      fits_(std::move(fits)),
      recorded_of_(replayed.size(), kUnmatched) {}

bool LabelLanes::Lay() {
  for (int round = 0; round < kRounds; ++round) {
    const size_t n_before = n_certain_;
    if (!LayOnce()) return round > 0;
    if (n_certain_ == n_before || n_certain_ == replayed_.size()) break;
    Teach(votes_);
  }
  if (n_certain_ < replayed_.size() && TeachByChains()) LayOnce();
  return true;
}

/// Leaves what was found before where there is no way.
bool LabelLanes::LayOnce() {
  LaneAlignment lanes(replayed_, recorded_, costs_, &fits_);
  const bool found = lanes.Search(kNoDifference) && lanes.best() != kNoPath;
  if (found) votes_ = lanes.Votes(places_);
  work_ += lanes.work();
  if (!found) return false;
  n_certain_ = 0;
  for (size_t i = 0; i < replayed_.size(); ++i) {
    recorded_of_[i] = votes_.Place(i);
    n_certain_ += recorded_of_[i] != kUnmatched ? 1 : 0;
  }
  return true;
}

/// Names that only labels tell apart leave more than two places; chains may know the labels.
bool LabelLanes::TeachByChains() {
  LaneAlignment lanes(replayed_, recorded_, costs_, &fits_);
  std::optional<PlacementVotes> held;
  if (lanes.Search(kNoDifference) && lanes.best() != kNoPath) held = lanes.HeldVotes(places_);
  work_ += lanes.work();
  if (held) Teach(*held);
  return held.has_value();
}

/// A label launches no other kernels than those that certainly stand there.
void LabelLanes::Teach(const PlacementVotes& votes) {
  std::map<uint32_t, std::set<uint32_t>> kernels_of_label;
  for (size_t i = 0; i < replayed_.size(); ++i) {
    const uint32_t at = votes.Place(i);
    if (at != kUnmatched) kernels_of_label[recorded_[at].symbol].insert(replayed_[i].symbol);
  }
  for (const auto& [label, kernels] : kernels_of_label) {
    for (uint32_t symbol = 0; symbol * size_t{fits_.n_recorded} < fits_.fits.size(); ++symbol) {
      if (kernels.contains(symbol)) continue;
      fits_.fits[size_t{symbol} * fits_.n_recorded + label] = 0;
    }
  }
}

}  // namespace layerscope::replay
