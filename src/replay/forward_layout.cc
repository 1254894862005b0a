#include "src/replay/forward_layout.h"

#include <algorithm>
#include <utility>

namespace layerscope::replay {
namespace {

/// More than leaving out every launch of any trace costs, and far from overflow.
constexpr int64_t kForbidden = int64_t{1} << 50;

class ForwardLayout {
 public:
  ForwardLayout(std::span<const LaunchChoices* const> launches, std::span<const uint32_t> n_pieces,
                const WindowCuts& cuts)
      : launches_(launches), n_pieces_(n_pieces), cuts_(cuts) {}

  std::vector<LaunchLayout> Lay() {
    Forward();
    Backward();
    std::vector<LaunchLayout> layout(launches_.size());
    State from{kNoPiece, 0};
    for (size_t i = 0; i < launches_.size(); ++i) {
      Choose(i, from, layout[i]);
      from = {layout[i].chosen, i};
    }
    return layout;
  }

 private:
  /// A candidate of a launch; kNoPiece: none of them.
  struct State {
    uint32_t candidate = kNoPiece;
    size_t launch = 0;
  };
  /// Costs of the best ways up to (or from) a launch, by candidate; the last is that of none.
  using Costs = std::vector<int64_t>;

  bool IsFirst(const PieceCandidate& candidate) const { return candidate.piece == 0; }
  bool IsLast(const PieceCandidate& candidate) const {
    return candidate.piece + 1 == n_pieces_[candidate.recording];
  }
  int64_t EnterCost(const PieceCandidate& candidate, size_t launch) const {
    if (IsFirst(candidate)) return 0;
    return launch == 0 && cuts_.at_first ? cuts_.cost : kForbidden;
  }
  int64_t LeaveCost(const PieceCandidate& candidate, size_t launch) const {
    if (IsLast(candidate)) return 0;
    return launch + 1 == launches_.size() && cuts_.at_last ? cuts_.cost : kForbidden;
  }

  /// The candidate of `launch` that is this piece; kNoPiece: none is.
  uint32_t Find(size_t launch, uint32_t recording, uint32_t piece) const {
    const std::vector<PieceCandidate>& all = launches_[launch]->candidates;
    const auto at = std::lower_bound(
        all.begin(), all.end(), std::pair(recording, piece),
        [](const PieceCandidate& c, const auto& k) { return std::pair(c.recording, c.piece) < k; });
    const bool found = at != all.end() && at->recording == recording && at->piece == piece;
    return found ? static_cast<uint32_t>(at - all.begin()) : kNoPiece;
  }

  void Forward() {
    upto_.resize(launches_.size());
    int64_t ended = 0;  // the cheapest way to have come to an end before this launch
    for (size_t i = 0; i < launches_.size(); ++i) {
      const std::vector<PieceCandidate>& all = launches_[i]->candidates;
      Costs& costs = upto_[i];
      costs.resize(all.size() + 1);
      int64_t next_ended = costs[all.size()] = ended + launches_[i]->none_cost;
      for (size_t k = 0; k < all.size(); ++k) {
        int64_t best = ended + EnterCost(all[k], i);
        if (i > 0 && !IsFirst(all[k])) {
          const uint32_t before = Find(i - 1, all[k].recording, all[k].piece - 1);
          if (before != kNoPiece) best = std::min(best, upto_[i - 1][before]);
        }
        costs[k] = best + all[k].cost;
        next_ended = std::min(next_ended, costs[k] + LeaveCost(all[k], i));
      }
      ended = next_ended;
    }
    best_ = ended;
  }

  void Backward() {
    from_.resize(launches_.size());
    int64_t begin = 0;  // the cheapest way to go on with a new beginning behind this launch
    for (size_t i = launches_.size(); i-- > 0;) {
      const std::vector<PieceCandidate>& all = launches_[i]->candidates;
      Costs& costs = from_[i];  // without the launch's own cost
      costs.resize(all.size() + 1);
      costs[all.size()] = begin;
      int64_t next_begin = begin + launches_[i]->none_cost;
      for (size_t k = 0; k < all.size(); ++k) {
        costs[k] = begin + LeaveCost(all[k], i);
        if (i + 1 < launches_.size() && !IsLast(all[k])) {
          const uint32_t next = Find(i + 1, all[k].recording, all[k].piece + 1);
          if (next != kNoPiece) {
            costs[k] =
                std::min(costs[k], launches_[i + 1]->candidates[next].cost + from_[i + 1][next]);
          }
        }
        next_begin = std::min(next_begin, EnterCost(all[k], i) + all[k].cost + costs[k]);
      }
      begin = next_begin;
    }
  }

  bool IsBest(size_t launch, size_t candidate) const {
    return upto_[launch][candidate] + from_[launch][candidate] == best_;
  }

  /// Goes on from the state chosen before along a best way.
  void Choose(size_t i, const State& from, LaunchLayout& layout) const {
    const std::vector<PieceCandidate>& all = launches_[i]->candidates;
    for (size_t k = 0; k < all.size(); ++k) {
      if (!IsBest(i, k)) continue;
      if (layout.chosen == kNoPiece && Follows(i, from, k)) {
        layout.chosen = static_cast<uint32_t>(k);
      } else {
        layout.also_best.push_back(static_cast<uint32_t>(k));
      }
    }
  }

  /// Does a best way lead from `from` (of the launch before) to candidate `k` of launch `i`?
  bool Follows(size_t i, const State& from, size_t k) const {
    if (i == 0) return true;
    const PieceCandidate& to = launches_[i]->candidates[k];
    const int64_t before =
        from.candidate == kNoPiece ? upto_[i - 1].back() : upto_[i - 1][from.candidate];
    int64_t step = EnterCost(to, i);
    if (from.candidate != kNoPiece) {
      const PieceCandidate& last = launches_[i - 1]->candidates[from.candidate];
      step += LeaveCost(last, i - 1);
      if (last.recording == to.recording && last.piece + 1 == to.piece) step = 0;
    }
    return before + step + to.cost + from_[i][k] == best_;
  }

  std::span<const LaunchChoices* const> launches_;
  std::span<const uint32_t> n_pieces_;
  const WindowCuts cuts_;
  std::vector<Costs> upto_, from_;
  int64_t best_ = 0;
};

}  // namespace

std::vector<LaunchLayout> LayForwards(std::span<const LaunchChoices* const> launches,
                                      std::span<const uint32_t> n_pieces, const WindowCuts& cuts) {
  if (launches.empty()) return {};
  return ForwardLayout(launches, n_pieces, cuts).Lay();
}

}  // namespace layerscope::replay
