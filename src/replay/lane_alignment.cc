#include "src/replay/lane_alignment.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace layerscope::replay {
namespace {

constexpr size_t kMaxStates = 1'000'000;
/// What a state costs, in cells of a table of one lane (measured: 200 ns against 3 ns).
constexpr int64_t kCellsOfState = 64;

uint32_t Plus(uint32_t cost, uint32_t more) {
  return cost == kNoPath ? kNoPath : cost + more;
}

}  // namespace

LaneAlignment::LaneAlignment(std::span<const Element> replayed, std::span<const Element> recorded,
                             const SkipCosts& costs, const SymbolFits* fits)
    : replayed_(replayed), recorded_(recorded), costs_(costs), fits_(fits) {
  std::vector<uint32_t> names;
  for (const Element& element : replayed) names.push_back(element.lane);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  lanes_.resize(names.size());
  for (size_t i = 0; i < replayed.size(); ++i) {
    const auto at = std::lower_bound(names.begin(), names.end(), replayed[i].lane);
    Lane& lane = lanes_[static_cast<size_t>(at - names.begin())];
    if (lane.n_kernels.empty()) lane.n_kernels.push_back(0);
    lane.elements.push_back(static_cast<uint32_t>(i));
    lane.n_kernels.push_back(lane.n_kernels.back() + (replayed[i].is_copy ? 0 : 1));
  }
  uint64_t step = 1;
  for (Lane& lane : lanes_) {
    lane.step = step;
    const uint64_t size = lane.elements.size() + 1;
    if (step > std::numeric_limits<uint64_t>::max() / 2 / size) {
      too_many_lanes_ = true;
      return;
    }
    last_key_ += step * (size - 1);
    step *= size;
  }
  n_recorded_kernels_.push_back(0);
  for (const Element& element : recorded) {
    n_recorded_kernels_.push_back(n_recorded_kernels_.back() + (element.is_copy ? 0 : 1));
  }
}

bool LaneAlignment::InBand(uint64_t key, size_t recorded, const DifferenceBand& band) const {
  int64_t ahead = -n_recorded_kernels_[recorded];
  for (const Lane& lane : lanes_) ahead += lane.n_kernels[Taken(lane, key)];
  return ahead >= band.lowest && ahead <= band.highest;
}

bool LaneAlignment::Search(const DifferenceBand& band) {
  work_ = 0;
  best_ = kNoPath;
  if (too_many_lanes_) return false;
  layers_.assign(recorded_.size() + 1, {});
  std::vector<State> arriving = {{0, 0, kNoPath}};
  size_t n_states = 0;
  for (size_t r = 0; r <= recorded_.size(); ++r) {
    const bool expanded = Expand(r, arriving, band);
    n_states += layers_[r].size();
    work_ = static_cast<int64_t>(n_states) * kCellsOfState;
    if (!expanded) return false;
    if (n_states > kMaxStates) return false;
  }
  const Layer& last = layers_.back();
  const bool arrived = !last.empty() && last.back().key == last_key_;
  best_ = arrived ? last.back().from_start : kNoPath;
  return true;
}

/// Fills the layer of `recorded` from the states that arrive there, and leaves in `arriving` those
/// of the next one.
bool LaneAlignment::Expand(size_t recorded, std::vector<State>& arriving,
                           const DifferenceBand& band) {
  using Entry = std::pair<uint64_t, uint32_t>;  // key, cost
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (const State& state : arriving) open.emplace(state.key, state.from_start);
  arriving.clear();
  Layer& layer = layers_[recorded];
  while (!open.empty()) {
    const auto [key, cost] = open.top();  // the cheapest of its key
    open.pop();
    if (!layer.empty() && layer.back().key == key) continue;
    if (!InBand(key, recorded, band)) continue;
    layer.push_back({key, cost, kNoPath});
    if (layer.size() > kMaxStates) return false;
    const bool more = recorded < recorded_.size();
    if (more) arriving.push_back({key, Plus(cost, costs_.Of(recorded_[recorded])), kNoPath});
    for (const Lane& lane : lanes_) {
      const size_t taken = Taken(lane, key);
      if (taken == lane.elements.size()) continue;
      const Element& next = replayed_[lane.elements[taken]];
      open.emplace(key + lane.step, Plus(cost, costs_.Of(next)));
      if (more && Match(next, recorded_[recorded])) {
        arriving.push_back({key + lane.step, cost, kNoPath});
      }
    }
  }
  return true;
}

uint32_t LaneAlignment::ToEnd(const Layer& layer, uint64_t key) {
  const auto at = std::lower_bound(layer.begin(), layer.end(), key,
                                   [](const State& state, uint64_t k) { return state.key < k; });
  return at != layer.end() && at->key == key ? at->to_end : kNoPath;
}

void LaneAlignment::VoteState(size_t recorded, State& state, PlacementVotes& votes) {
  const bool more = recorded < recorded_.size();
  uint32_t rest = !more && state.key == last_key_ ? 0 : kNoPath;
  if (more) {
    rest = std::min(rest,
                    Plus(ToEnd(layers_[recorded + 1], state.key), costs_.Of(recorded_[recorded])));
  }
  for (const Lane& lane : lanes_) {
    const size_t taken = Taken(lane, state.key);
    if (taken == lane.elements.size()) continue;
    const uint32_t i = lane.elements[taken];
    const uint32_t skip =
        Plus(ToEnd(layers_[recorded], state.key + lane.step), costs_.Of(replayed_[i]));
    rest = std::min(rest, skip);
    if (skip != kNoPath && state.from_start + skip == best_) votes.Skip(i);
    if (!more || !Match(replayed_[i], recorded_[recorded])) continue;
    const uint32_t match = ToEnd(layers_[recorded + 1], state.key + lane.step);
    rest = std::min(rest, match);
    if (match != kNoPath && state.from_start + match == best_) votes.Match(i, recorded);
  }
  state.to_end = rest;
}

void LaneAlignment::Vote(PlacementVotes& votes) {
  for (size_t r = recorded_.size() + 1; r-- > 0;) {
    Layer& layer = layers_[r];
    for (size_t k = layer.size(); k-- > 0;) VoteState(r, layer[k], votes);
  }
}

}  // namespace layerscope::replay
