#include "src/replay/sequence_alignment.h"

#include <algorithm>

#include "src/replay/lane_alignment.h"
#include "src/replay/placement_votes.h"

namespace layerscope::replay {
namespace {

/// Cells of one table; 8 bytes each.
constexpr size_t kMaxCells = size_t{1} << 23;

bool Match(const Element& a, const Element& b) {
  return a.symbol == b.symbol;
}

/// One lane: a table of costs, recorded positions down and replayed ones across, of which only the
/// band is kept in which a path with `differences` can lie.
class BandedAlignment {
 public:
  BandedAlignment(std::span<const Element> replayed, std::span<const Element> recorded,
                  const SkipCosts& costs)
      : replayed_(replayed),
        recorded_(recorded),
        costs_(costs),
        n_replayed_kernels_(KernelPrefix(replayed)),
        n_recorded_kernels_(KernelPrefix(recorded)) {}

  /// False: the band does not fit into memory.
  bool Layout(const DifferenceBand& band) {
    const size_t m = recorded_.size();
    low_.resize(m + 1);
    high_.resize(m + 1);
    offset_.resize(m + 2);
    offset_[0] = 0;
    for (size_t r = 0; r <= m; ++r) {
      const int64_t least = n_recorded_kernels_[r] + band.lowest;
      const int64_t most = n_recorded_kernels_[r] + band.highest;
      const auto& prefix = n_replayed_kernels_;
      low_[r] = static_cast<size_t>(std::lower_bound(prefix.begin(), prefix.end(), least) -
                                    prefix.begin());
      high_[r] = static_cast<size_t>(std::upper_bound(prefix.begin(), prefix.end(), most) -
                                     prefix.begin());
      offset_[r + 1] = offset_[r] + (high_[r] > low_[r] ? high_[r] - low_[r] : 0);
      if (offset_[r + 1] > kMaxCells) return false;
    }
    return true;
  }

  /// The cost of the best path within the band; kNoPath: there is none.
  uint32_t Forward() {
    from_start_.assign(offset_.back(), kNoPath);
    for (size_t r = 0; r <= recorded_.size(); ++r) {
      for (size_t i = low_[r]; i < high_[r]; ++i) {
        uint32_t best = r == 0 && i == 0 ? 0 : kNoPath;
        if (i > low_[r])
          best = std::min(best, Plus(At(from_start_, r, i - 1), SkipReplayed(i - 1)));
        if (r > 0) {
          best = std::min(best, Plus(At(from_start_, r - 1, i), SkipRecorded(r - 1)));
          if (i > 0 && Match(replayed_[i - 1], recorded_[r - 1])) {
            best = std::min(best, At(from_start_, r - 1, i - 1));
          }
        }
        from_start_[Cell(r, i)] = best;
      }
    }
    return At(from_start_, recorded_.size(), replayed_.size());
  }

  int64_t n_cells() const { return static_cast<int64_t>(offset_.back()); }

  /// What every best path does with every replayed element.
  void Vote(uint32_t best, PlacementVotes& votes) {
    to_end_.assign(offset_.back(), kNoPath);
    const size_t n = replayed_.size();
    const size_t m = recorded_.size();
    for (size_t r = m + 1; r-- > 0;) {
      for (size_t i = high_[r]; i-- > low_[r];) {
        const uint32_t before = from_start_[Cell(r, i)];
        uint32_t rest = r == m && i == n ? 0 : kNoPath;
        if (i < n) {
          const uint32_t skip = Plus(At(to_end_, r, i + 1), SkipReplayed(i));
          rest = std::min(rest, skip);
          if (Plus(before, skip) == best) votes.Skip(i);
        }
        if (r < m) rest = std::min(rest, Plus(At(to_end_, r + 1, i), SkipRecorded(r)));
        if (i < n && r < m && Match(replayed_[i], recorded_[r])) {
          const uint32_t match = At(to_end_, r + 1, i + 1);
          rest = std::min(rest, match);
          if (Plus(before, match) == best) votes.Match(i, r);
        }
        to_end_[Cell(r, i)] = rest;
      }
    }
  }

 private:
  static std::vector<int64_t> KernelPrefix(std::span<const Element> elements) {
    std::vector<int64_t> prefix(elements.size() + 1, 0);
    for (size_t i = 0; i < elements.size(); ++i) {
      prefix[i + 1] = prefix[i] + (elements[i].is_copy ? 0 : 1);
    }
    return prefix;
  }
  static uint32_t Plus(uint32_t cost, uint32_t more) {
    return cost == kNoPath || more == kNoPath ? kNoPath : cost + more;
  }
  size_t Cell(size_t r, size_t i) const { return offset_[r] + i - low_[r]; }
  uint32_t At(const std::vector<uint32_t>& table, size_t r, size_t i) const {
    return i >= low_[r] && i < high_[r] ? table[Cell(r, i)] : kNoPath;
  }
  uint32_t SkipReplayed(size_t i) const { return costs_.Of(replayed_[i]); }
  uint32_t SkipRecorded(size_t r) const { return costs_.Of(recorded_[r]); }

  std::span<const Element> replayed_;
  std::span<const Element> recorded_;
  const SkipCosts costs_;
  std::vector<int64_t> n_replayed_kernels_;  // before each position
  std::vector<int64_t> n_recorded_kernels_;
  std::vector<size_t> low_, high_;  // the band: replayed positions by recorded one
  std::vector<size_t> offset_;
  std::vector<uint32_t> from_start_, to_end_;
};

int64_t CountKernels(std::span<const Element> elements) {
  return std::count_if(elements.begin(), elements.end(),
                       [](const Element& element) { return !element.is_copy; });
}

bool OnOneLane(std::span<const Element> elements) {
  return std::all_of(elements.begin(), elements.end(),
                     [&](const Element& element) { return element.lane == elements.front().lane; });
}

class Aligner {
 public:
  Aligner(std::span<const Element> replayed, std::span<const Element> recorded, Places places,
          size_t max_differences)
      : replayed_(replayed),
        recorded_(recorded),
        places_(places),
        n_replayed_(CountKernels(replayed)),
        n_recorded_(CountKernels(recorded)),
        max_differences_(
            static_cast<int64_t>(std::min(max_differences, replayed.size() + recorded.size()))) {}

  SequenceMatch Align() {
    SequenceMatch match;
    if (!replayed_.empty() && !OnOneLane(replayed_)) {
      match = TryLanes() ? Result() : Nothing();
    } else if (IsEqual()) {
      match = Identity();
    } else {
      match = TryOneLane() ? Result() : Nothing();
    }
    match.work = work_ + static_cast<int64_t>(replayed_.size() + recorded_.size());
    return match;
  }

 private:
  bool IsEqual() const {
    return std::equal(replayed_.begin(), replayed_.end(), recorded_.begin(), recorded_.end(),
                      Match);
  }

  SequenceMatch Identity() const {
    SequenceMatch match;
    match.recorded_of.resize(replayed_.size());
    for (size_t i = 0; i < replayed_.size(); ++i) match.recorded_of[i] = static_cast<uint32_t>(i);
    match.n_matched = n_replayed_;
    match.aligned = true;
    return match;
  }

  SequenceMatch Nothing() const {
    SequenceMatch match;
    match.recorded_of.assign(replayed_.size(), kUnmatched);
    match.n_only_replayed = n_replayed_;
    match.n_only_recorded = n_recorded_;
    match.n_differences = n_replayed_ + n_recorded_;
    return match;
  }

  /// Calls `attempt(band)` with wider and wider bands until it answers: a path, or no more memory.
  template <typename Attempt>
  bool Widen(Attempt attempt) {
    const int64_t surplus = n_replayed_ - n_recorded_;
    const int64_t least = std::abs(surplus);
    if (least > max_differences_) return false;
    const int64_t most_pairs = (max_differences_ - least) / 2;
    for (int64_t pairs = 0;; pairs = std::min(most_pairs, std::max<int64_t>(1, pairs * 2))) {
      const DifferenceBand band{std::min<int64_t>(0, surplus) - pairs,
                                std::max<int64_t>(0, surplus) + pairs};
      best_ = kNoPath;
      if (!attempt(band)) return false;
      if (best_ != kNoPath && costs_.Kernels(best_) <= least + 2 * pairs) return true;
      if (pairs == most_pairs) return false;
    }
  }

  bool TryOneLane() {
    costs_ = SkipCosts(replayed_, recorded_, max_differences_);
    BandedAlignment table(replayed_, recorded_, costs_);
    const bool found = Widen([&](const DifferenceBand& band) {
      if (!table.Layout(band)) return false;
      best_ = table.Forward();
      work_ += table.n_cells();
      return true;
    });
    if (!found) return false;
    votes_ = PlacementVotes(replayed_.size(), places_);
    table.Vote(best_, votes_);
    return true;
  }

  bool TryLanes() {
    costs_ = SkipCosts(replayed_, recorded_, max_differences_);
    LaneAlignment lanes(replayed_, recorded_, costs_);
    const bool found = Widen([&](const DifferenceBand& band) {
      const bool searched = lanes.Search(band);
      best_ = lanes.best();
      return searched;
    });
    if (found) votes_ = lanes.Votes(places_);
    work_ += lanes.work();
    return found;
  }

  SequenceMatch Result() const {
    SequenceMatch match;
    match.recorded_of.resize(replayed_.size());
    for (size_t i = 0; i < replayed_.size(); ++i) {
      match.recorded_of[i] = votes_.Place(i);
      if (replayed_[i].is_copy) continue;
      if (match.recorded_of[i] != kUnmatched) {
        ++match.n_matched;
      } else if (votes_.CanMatch(i)) {
        ++match.n_uncertain;
      } else {
        ++match.n_only_replayed;
      }
    }
    match.n_differences = costs_.Kernels(best_);
    match.n_only_recorded = (match.n_differences + n_recorded_ - n_replayed_) / 2;
    match.aligned = true;
    return match;
  }

  std::span<const Element> replayed_;
  std::span<const Element> recorded_;
  const Places places_;
  const int64_t n_replayed_;  // kernels
  const int64_t n_recorded_;
  const int64_t max_differences_;
  SkipCosts costs_;
  uint32_t best_ = kNoPath;
  int64_t work_ = 0;
  PlacementVotes votes_;
};

/// `match` of the kernels alone, spread over all replayed elements.
SequenceMatch WithCopies(SequenceMatch match, std::span<const Element> replayed,
                         std::span<const uint32_t> recorded_rows) {
  std::vector<uint32_t> all(replayed.size(), kUnmatched);
  size_t next = 0;
  for (size_t i = 0; i < replayed.size(); ++i) {
    if (replayed[i].is_copy) continue;
    const uint32_t at = match.recorded_of[next++];
    if (at != kUnmatched) all[i] = recorded_rows[at];
  }
  match.recorded_of = std::move(all);
  return match;
}

/// Many copies make the band wide although they shift nothing: without them it fits.
SequenceMatch AlignKernelsOnly(std::span<const Element> replayed, std::span<const Element> recorded,
                               Places places, size_t max_differences) {
  std::vector<Element> replayed_kernels, recorded_kernels;
  std::vector<uint32_t> rows, kept_places;
  for (const Element& element : replayed) {
    if (!element.is_copy) replayed_kernels.push_back(element);
  }
  for (size_t r = 0; r < recorded.size(); ++r) {
    if (recorded[r].is_copy) continue;
    recorded_kernels.push_back(recorded[r]);
    rows.push_back(static_cast<uint32_t>(r));
    if (!places.empty()) kept_places.push_back(places[r]);
  }
  return WithCopies(
      Aligner(replayed_kernels, recorded_kernels, kept_places, max_differences).Align(), replayed,
      rows);
}

}  // namespace

SequenceMatch AlignSequences(std::span<const Element> replayed, std::span<const Element> recorded,
                             Places places, size_t max_differences) {
  SequenceMatch match = Aligner(replayed, recorded, places, max_differences).Align();
  const auto is_copy = [](const Element& element) { return element.is_copy; };
  const bool copies = std::any_of(replayed.begin(), replayed.end(), is_copy) ||
                      std::any_of(recorded.begin(), recorded.end(), is_copy);
  if (match.aligned || !copies) return match;
  const int64_t work = match.work;
  match = AlignKernelsOnly(replayed, recorded, places, max_differences);
  match.work += work;
  return match;
}

}  // namespace layerscope::replay
