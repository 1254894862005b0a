#include "src/replay/sequence_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace layerscope::replay {
namespace {

/// One element a letter; `.` is a copy. Digits choose the lane (recorded: the chain) of what
/// follows.
std::vector<Element> Spell(std::string_view text) {
  std::vector<Element> elements;
  uint32_t lane = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      lane = static_cast<uint32_t>(c - '0');
    } else {
      elements.push_back({static_cast<uint32_t>(c), lane, c == '.', lane});
    }
  }
  return elements;
}

/// Recorded positions in hexadecimal, `?` for unmatched.
std::string Show(const SequenceMatch& match) {
  std::string text;
  for (const uint32_t at : match.recorded_of) {
    text += at == kUnmatched ? '?' : "0123456789abcdefghijklmnopqrstuvwxyz"[at];
  }
  return text;
}

std::string Laid(std::string_view replayed, std::string_view recorded, Places places = {},
                 size_t max_differences = 100) {
  return Show(AlignSequences(Spell(replayed), Spell(recorded), places, max_differences));
}

TEST(AlignSequences, MatchesEqualSequencesPositionByPosition) {
  EXPECT_EQ(Laid("abcabc", "abcabc"), "012345");
  EXPECT_EQ(Laid("aaaa", "aaaa"), "0123");
  EXPECT_EQ(Laid("", ""), "");
}

TEST(AlignSequences, LeavesAReplacedKernelAloneAndMovesNothing) {
  EXPECT_EQ(Laid("abXabc", "abcabc"), "01?345");
}

TEST(AlignSequences, FindsTheGapOfAMissingKernel) {
  EXPECT_EQ(Laid("abcdacdabcd", "abcdabcdabcd"),
            "0123467"
            "89ab");
}

TEST(AlignSequences, SaysNothingOfElementsWhoseGapCouldSlide) {
  // One of three equal kernels is missing: any of them.
  EXPECT_EQ(Laid("xaay", "xaaay"), "0??4");
  // One whole period is missing: nothing tells which.
  EXPECT_EQ(Laid("habab"
                 "t",
                 "hababab"
                 "t"),
            "0????7");
}

TEST(AlignSequences, TakesPositionsOfOnePlaceAsOne) {
  const std::vector<uint32_t> places = {0, 1, 1, 1, 2};
  EXPECT_EQ(Laid("xaay", "xaaay", places), "0124");
}

TEST(AlignSequences, LetsCopiesBeAbsentOnEitherSide) {
  EXPECT_EQ(Laid("ab.cd", "abcd"), "01?23");
  EXPECT_EQ(Laid("abcd", "a.b.cd"), "0245");
  const SequenceMatch match = AlignSequences(Spell("ab.cd"), Spell("a.bcd"), {}, 0);
  EXPECT_TRUE(match.aligned);
  EXPECT_EQ(match.n_differences, 0);
  EXPECT_EQ(match.n_matched, 4);
}

TEST(AlignSequences, CountsKernelsByWhatBecameOfThem) {
  const SequenceMatch match = AlignSequences(Spell("xaayZ"), Spell("xaaayQQ"), {}, 10);
  EXPECT_EQ(match.n_matched, 2);
  EXPECT_EQ(match.n_uncertain, 2);
  EXPECT_EQ(match.n_only_replayed, 1);
  EXPECT_EQ(match.n_only_recorded, 3);
  EXPECT_EQ(match.n_differences, 4);
}

TEST(AlignSequences, GivesUpBeyondTheAllowedDifferences) {
  const SequenceMatch match = AlignSequences(Spell("abcd"), Spell("abxd"), {}, 1);
  EXPECT_FALSE(match.aligned);
  EXPECT_EQ(Show(match), "????");
  EXPECT_TRUE(AlignSequences(Spell("abcd"), Spell("abxd"), {}, 2).aligned);
}

TEST(AlignSequences, LaysLanesThatInterleaveInAnyOrder) {
  // By time lane 1 ran after lane 0; it was recorded in between.
  EXPECT_EQ(Laid("0abcd1xyz", "axbyczd"), "0246135");
  EXPECT_EQ(Laid("1xyz0abcd", "axbyczd"), "1350246");
}

TEST(AlignSequences, SaysNothingWhereLanesCouldBeSwapped) {
  EXPECT_EQ(Laid("0aq1ar", "aaqr"), "?2?3");
  const std::vector<uint32_t> places = {0, 0, 1, 2};
  EXPECT_EQ(Laid("0aq1ar", "aaqr", places), "0203");
}

TEST(AlignSequences, ChainsDecideBetweenBranchesOfTheSameKernels) {
  // Both lanes run x, y between n and m. Without chains either may have been recorded first.
  EXPECT_EQ(Laid("0nxym1xy", "nxyxym"), "0??5??");
  // The second pair was put on the stream of m, with no event between.
  EXPECT_EQ(Laid("0nxym1xy", "1n2xy3xym"), "034512");
  EXPECT_EQ(Laid("0nxym1xy", "1n2xy3xy4m"), "0??5??");  // a join before m: nothing tells
  // Lanes in turns, each a chain of its own.
  EXPECT_EQ(Laid("0nxym1xy", "1n2x3x2y3ym"), "024513");
}

TEST(AlignSequences, ChainsThatFitNoLaneSayNothing) {
  // Both branches without an event between: no lane runs x, y, x, y.
  EXPECT_EQ(Laid("0nxym1xy", "1n2xyxy3m"), "0??5??");
  // A chain that would take a kernel more than the best ways does not count.
  EXPECT_EQ(Laid("0ab1c", "1abc"), "012");
}

TEST(AlignSequences, ChainsDecideOnlyBetweenTwoPlaces) {
  // The first a of lane 0 may be any of three: that these chains fit may be chance.
  EXPECT_EQ(Laid("0aan1aa", "1aa2aan"), "??4??");
}

TEST(AlignSequences, FindsGapsInLanes) {
  EXPECT_EQ(Laid("0abd1xyz", "axbyczd"), "026135");
}

TEST(AlignSequences, StandsLongSequencesOfOneNameOnBothSides) {
  const std::vector<Element> many(200'000, Element{1, 0, false});
  std::vector<Element> fewer(many.begin(), many.end() - 3);
  const SequenceMatch match = AlignSequences(fewer, many, {}, 100);
  EXPECT_TRUE(match.aligned);
  EXPECT_EQ(match.n_uncertain, 199'997);
  std::vector<Element> copies(200'000, Element{1, 0, true});
  copies.push_back({2, 0, false});
  EXPECT_EQ(AlignSequences(copies, std::span(copies).subspan(1), {}, 5).n_matched, 1);
}

/// All ways to lay lanes over a sequence, tried one by one.
class BruteForce {
 public:
  BruteForce(const std::vector<Element>& replayed, const std::vector<Element>& recorded)
      : replayed_(replayed), recorded_(recorded), at_(replayed.size(), kUnmatched) {
    for (uint32_t i = 0; i < replayed.size(); ++i) lanes_[replayed[i].lane].push_back(i);
    for (const auto& [lane, elements] : lanes_) next_[lane] = 0;
    Go(0, {0, 0});
    for (const std::vector<uint32_t>& way : best_) {
      if (HoldsChains(way)) holding_.push_back(way);
    }
  }

  std::string Show(const std::vector<uint32_t>& places) const {
    std::string text;
    for (size_t i = 0; i < replayed_.size(); ++i) {
      Found found = FindPlaces(best_, i, places);
      // Lanes that could be either of two are told apart by chains.
      const bool two = found.places.size() == 2 && !found.places.contains(kUnmatched);
      if (two && lanes_.size() > 1 && !holding_.empty()) found = FindPlaces(holding_, i, places);
      const bool certain = found.places.size() == 1 && !found.places.contains(kUnmatched);
      text += certain ? "0123456789abcdefghijklmnopqrstuvwxyz"[found.first] : '?';
    }
    return text;
  }
  int64_t differences() const { return best_cost_.first; }

 private:
  using Cost = std::pair<int64_t, int64_t>;  // kernels, copies
  using Ways = std::vector<std::vector<uint32_t>>;
  struct Found {
    std::set<uint32_t> places;
    uint32_t first = kUnmatched;
  };

  static Found FindPlaces(const Ways& ways, size_t i, const std::vector<uint32_t>& places) {
    Found found;
    for (const std::vector<uint32_t>& way : ways) {
      const uint32_t at = way[i];
      if (at != kUnmatched) found.first = std::min(found.first, at);
      found.places.insert(at == kUnmatched || places.empty() ? at : places[at]);
    }
    return found;
  }

  bool HoldsChains(const std::vector<uint32_t>& way) const {
    std::map<uint32_t, uint32_t> lane_of_chain;
    for (size_t i = 0; i < way.size(); ++i) {
      const uint32_t chain = way[i] == kUnmatched ? 0 : recorded_[way[i]].chain;
      if (chain == 0) continue;
      const auto [at, is_new] = lane_of_chain.try_emplace(chain, replayed_[i].lane);
      if (at->second != replayed_[i].lane) return false;
    }
    return true;
  }

  static Cost Plus(Cost cost, const Element& skipped) {
    (skipped.is_copy ? cost.second : cost.first) += 1;
    return cost;
  }

  void Go(size_t r, Cost cost) {
    bool done = r == recorded_.size();
    for (const auto& [lane, elements] : lanes_) done &= next_[lane] == elements.size();
    if (done) {
      if (best_.empty() || cost < best_cost_) best_.clear(), best_cost_ = cost;
      if (cost == best_cost_) best_.push_back(at_);
      return;
    }
    if (r < recorded_.size()) Go(r + 1, Plus(cost, recorded_[r]));
    for (const auto& [lane, elements] : lanes_) {
      if (next_[lane] == elements.size()) continue;
      const uint32_t i = elements[next_[lane]++];
      Go(r, Plus(cost, replayed_[i]));
      if (r < recorded_.size() && recorded_[r].symbol == replayed_[i].symbol) {
        at_[i] = static_cast<uint32_t>(r);
        Go(r + 1, cost);
        at_[i] = kUnmatched;
      }
      --next_[lane];
    }
  }

  const std::vector<Element>& replayed_;
  const std::vector<Element>& recorded_;
  std::map<uint32_t, std::vector<uint32_t>> lanes_;
  std::map<uint32_t, size_t> next_;
  std::vector<uint32_t> at_;
  Ways best_, holding_;
  Cost best_cost_;
};

TEST(AlignSequences, AgreesWithTryingAllWays) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 3'000; ++round) {
    const uint32_t n_lanes = 1 + below(3);
    std::vector<Element> replayed(below(n_lanes == 1 ? 6 : 5));
    std::vector<Element> recorded(below(6));
    const uint32_t n_letters = 1 + below(3);
    const auto fill = [&](Element& element) {
      element.symbol = below(n_letters + 1);
      element.is_copy = element.symbol == n_letters;
    };
    const uint32_t n_chains = below(4);
    for (Element& element : recorded) {
      fill(element);
      element.chain = below(n_chains + 1);
    }
    for (Element& element : replayed) {
      fill(element);
      element.lane = below(n_lanes);
    }
    std::vector<uint32_t> places;
    if (below(2) == 0) {
      for (size_t i = 0; i < recorded.size(); ++i) places.push_back(below(3));
    }
    const BruteForce truth(replayed, recorded);
    const SequenceMatch match = AlignSequences(replayed, recorded, places, 100);
    ASSERT_TRUE(match.aligned);
    EXPECT_EQ(match.n_differences, truth.differences());
    EXPECT_EQ(Show(match), truth.Show(places)) << "round " << round;
  }
}

}  // namespace
}  // namespace layerscope::replay
