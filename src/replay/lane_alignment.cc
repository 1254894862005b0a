#include "src/replay/lane_alignment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace layerscope::replay {
namespace {

constexpr size_t kMaxStates = 1'000'000;
/// What a state costs, in cells of a table of one lane (measured: 200 ns against 3 ns).
constexpr int64_t kCellsOfState = 64;
constexpr size_t kNoLane = std::numeric_limits<size_t>::max();
constexpr uint32_t kNoHomes = std::numeric_limits<uint32_t>::max();

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
  FindChains();
}

void LaneAlignment::FindChains() {
  std::map<uint32_t, size_t> last_of_chain;
  for (size_t r = 0; r < recorded_.size(); ++r) {
    if (recorded_[r].chain != 0) last_of_chain[recorded_[r].chain] = r;
  }
  if (last_of_chain.empty()) return;
  const uint64_t n_homes = lanes_.size() + 1;
  std::vector<Link> links(recorded_.size());
  std::map<uint32_t, uint32_t> step_of_open;
  std::vector<uint32_t> free_steps;
  uint64_t next_step = 1;
  for (size_t r = 0; r < recorded_.size(); ++r) {
    const uint32_t chain = recorded_[r].chain;
    if (chain == 0) continue;
    const auto [open, is_new] = step_of_open.try_emplace(chain, 0);
    if (is_new && free_steps.empty()) {
      if (next_step > kNoHomes / n_homes) return;
      free_steps.push_back(static_cast<uint32_t>(next_step));
      next_step *= n_homes;
    }
    if (is_new) {
      open->second = free_steps.back();
      free_steps.pop_back();
    }
    links[r] = {open->second, last_of_chain[chain] == r};
    if (!links[r].last) continue;
    free_steps.push_back(open->second);
    step_of_open.erase(open);
  }
  links_ = std::move(links);
}

uint32_t LaneAlignment::HomesAfter(size_t recorded, uint32_t homes, size_t lane) const {
  if (!holds_chains_ || links_[recorded].step == 0) return homes;
  const Link& link = links_[recorded];
  const auto n_homes = static_cast<uint32_t>(lanes_.size() + 1);
  const uint32_t home = homes / link.step % n_homes;
  const uint32_t wanted = lane == kNoLane ? home : static_cast<uint32_t>(lane + 1);
  if (home != 0 && home != wanted) return kNoHomes;
  return homes - home * link.step + (link.last ? 0 : wanted * link.step);
}

bool LaneAlignment::InBand(uint64_t key, size_t recorded, const DifferenceBand& band) const {
  int64_t ahead = -n_recorded_kernels_[recorded];
  for (const Lane& lane : lanes_) ahead += lane.n_kernels[Taken(lane, key)];
  return ahead >= band.lowest && ahead <= band.highest;
}

bool LaneAlignment::Search(const DifferenceBand& band) {
  band_ = band;
  return SearchLayers(band);
}

PlacementVotes LaneAlignment::Votes(Places places) {
  PlacementVotes votes(replayed_.size(), places);
  Vote(votes);
  if (!votes.AnyOfTwo()) return votes;
  if (const std::optional<PlacementVotes> held = HeldVotes(places)) votes.Narrow(*held);
  return votes;
}

std::optional<PlacementVotes> LaneAlignment::HeldVotes(Places places) {
  if (links_.empty()) return std::nullopt;
  std::optional<PlacementVotes> held;
  const uint32_t best = best_;
  holds_chains_ = true;
  if (SearchLayers(band_) && best_ == best) Vote(held.emplace(replayed_.size(), places));
  holds_chains_ = false;
  best_ = best;
  return held;
}

bool LaneAlignment::SearchLayers(const DifferenceBand& band) {
  best_ = kNoPath;
  if (too_many_lanes_) return false;
  layers_.assign(recorded_.size() + 1, {});
  std::vector<State> arriving = {{0, 0, 0, kNoPath}};
  size_t n_states = 0;
  for (size_t r = 0; r <= recorded_.size(); ++r) {
    const bool expanded = Expand(r, arriving, band);
    n_states += layers_[r].size();
    work_ += static_cast<int64_t>(layers_[r].size()) * kCellsOfState;
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
  using Entry = std::tuple<uint64_t, uint32_t, uint32_t>;  // key, homes, cost
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (const State& state : arriving) open.emplace(state.key, state.homes, state.from_start);
  arriving.clear();
  Layer& layer = layers_[recorded];
  while (!open.empty()) {
    const auto [key, homes, cost] = open.top();  // the cheapest of its state
    open.pop();
    if (!layer.empty() && layer.back().IsAt(key, homes)) continue;
    if (!InBand(key, recorded, band)) continue;
    layer.push_back({key, homes, cost, kNoPath});
    if (layer.size() > kMaxStates) return false;
    const bool more = recorded < recorded_.size();
    if (more) {
      arriving.push_back({key, HomesAfter(recorded, homes, kNoLane),
                          Plus(cost, costs_.Of(recorded_[recorded])), kNoPath});
    }
    for (size_t l = 0; l < lanes_.size(); ++l) {
      const Lane& lane = lanes_[l];
      const size_t taken = Taken(lane, key);
      if (taken == lane.elements.size()) continue;
      const Element& next = replayed_[lane.elements[taken]];
      open.emplace(key + lane.step, homes, Plus(cost, costs_.Of(next)));
      if (!more || !Match(next, recorded_[recorded])) continue;
      const uint32_t after = HomesAfter(recorded, homes, l);
      if (after != kNoHomes) arriving.push_back({key + lane.step, after, cost, kNoPath});
    }
  }
  return true;
}

uint32_t LaneAlignment::ToEnd(const Layer& layer, uint64_t key, uint32_t homes) {
  const auto at = std::lower_bound(layer.begin(), layer.end(), std::pair(key, homes),
                                   [](const State& state, const auto& wanted) {
                                     return std::pair(state.key, state.homes) < wanted;
                                   });
  return at != layer.end() && at->IsAt(key, homes) ? at->to_end : kNoPath;
}

void LaneAlignment::VoteState(size_t recorded, State& state, PlacementVotes& votes) {
  const bool more = recorded < recorded_.size();
  uint32_t rest = !more && state.key == last_key_ ? 0 : kNoPath;
  if (more) {
    const uint32_t after = HomesAfter(recorded, state.homes, kNoLane);
    rest = std::min(
        rest, Plus(ToEnd(layers_[recorded + 1], state.key, after), costs_.Of(recorded_[recorded])));
  }
  for (size_t l = 0; l < lanes_.size(); ++l) {
    const Lane& lane = lanes_[l];
    const size_t taken = Taken(lane, state.key);
    if (taken == lane.elements.size()) continue;
    const uint32_t i = lane.elements[taken];
    const uint32_t skip =
        Plus(ToEnd(layers_[recorded], state.key + lane.step, state.homes), costs_.Of(replayed_[i]));
    rest = std::min(rest, skip);
    if (skip != kNoPath && state.from_start + skip == best_) votes.Skip(i);
    if (!more || !Match(replayed_[i], recorded_[recorded])) continue;
    const uint32_t after = HomesAfter(recorded, state.homes, l);
    if (after == kNoHomes) continue;
    const uint32_t match = ToEnd(layers_[recorded + 1], state.key + lane.step, after);
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
