#include "src/replay/capture_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "src/replay/capture_doubts.h"
#include "src/replay/capture_finding.h"
#include "src/replay/capture_fits.h"
#include "src/replay/capture_library.h"
#include "src/replay/capture_placement.h"
#include "src/replay/forward_judgement.h"
#include "src/replay/forward_layout.h"
#include "src/replay/piece_fit.h"

namespace layerscope::replay {
namespace {

/// Costs of a layout: a kernel that only one side has, or a forward that the window cut.
constexpr int64_t kKernelCost = 16;

/// A capture that may be used, and how many nearer ones there are.
struct Usable {
  uint32_t capture = 0;
  int64_t tier = 0;
};
/// What a farther capture costs more must stay below a kernel.
constexpr int64_t kMostTiers = kKernelCost - 1;
/// Every attempt refuses something; a hostile input could go on for long.
constexpr int kMostAttempts = 32;
/// What the launches of one sequence may be, and what comes nearest when they are nothing of it.
struct SequenceChoices {
  LaunchChoices choices;
  Finding nearest;
};

class CaptureResolver {
 public:
  CaptureResolver(Resolution& resolution, const Sources& sources)
      : resolution_(resolution),
        graphs_(resolution.graphs),
        rank_(sources.rank),
        library_(resolution.trace, resolution.graft, sources.captures),
        placement_(resolution, library_, sources.captures.front().path),
        doubts_(library_),
        fits_(resolution.trace, graphs_, library_) {}

  void Run() {
    std::map<std::vector<int64_t>, std::vector<Finding>> known;  // by content of the group
    std::vector<std::vector<Finding>*> found;                    // by group
    for (const GraphLaunches::Group& group : graphs_.groups) {
      const auto [at, is_new] = known.try_emplace(KeyOf(group));
      if (is_new) at->second = Solve(group);
      found.push_back(&at->second);
    }
    for (size_t g = 0; g < found.size(); ++g) {
      doubts_.Note(KernelsOf(graphs_.groups[g]), *found[g]);
    }
    for (size_t g = 0; g < found.size(); ++g) {
      doubts_.Doubt(KernelsOf(graphs_.groups[g]), *found[g]);
      Apply(graphs_.groups[g], *found[g]);
    }
  }

 private:
  bool IsOpen(uint32_t launch) const {
    return !resolution_.outcomes[launch].placed() && !graphs_.launches[launch].burst;
  }

  std::vector<int64_t> KeyOf(const GraphLaunches::Group& group) const {
    const WindowCuts cuts = CutsOf(group);
    std::vector<int64_t> key = {group.batch.value_or(-1), group.tokens.value_or(-1),
                                cuts.at_first ? 1 : 0, cuts.at_last ? 1 : 0};
    for (uint32_t i = group.begin; i < group.end; ++i) {
      key.push_back(IsOpen(i) ? int64_t{graphs_.launches[i].sequence} : -1);
    }
    return key;
  }

  /// A piece that may lie under a launch, and no less than what it would cost.
  struct Option {
    int64_t least_cost = 0;
    uint32_t capture = 0;
    uint32_t piece = 0;
    int64_t tier = 0;
    friend auto operator<=>(const Option&, const Option&) = default;
  };

  std::vector<Option> OptionsOf(uint32_t launch, const std::vector<Usable>& usable) {
    std::vector<Option> options;
    for (const auto& [c, tier] : usable) {
      const LibraryCapture& capture = library_.captures()[c];
      for (uint32_t p = 0; p < capture.pieces.size(); ++p) {
        options.push_back({fits_.LeastDifferences(launch, c, p) * kKernelCost + tier, c, p, tier});
      }
    }
    std::sort(options.begin(), options.end());
    return options;
  }

  WantedCapture WantedFor(const GraphLaunches::Group& group) const {
    return {rank_, group.batch, group.tokens};
  }

  std::vector<Finding> Solve(const GraphLaunches::Group& group) {
    std::vector<Finding> found(group.end - group.begin);
    const auto open = [&] {
      for (uint32_t i = group.begin; i < group.end; ++i) {
        if (IsOpen(i) && found[i - group.begin].capture < 0) return true;
      }
      return false;
    };
    const WantedCapture wanted = WantedFor(group);
    refused_.clear();
    int64_t done = -1;
    // Farther ones come in twice as many at a time: thousands must not cost their square.
    ptrdiff_t at_a_time = 1;
    for (int round = 0; open(); ++round) {
      const std::vector<int64_t> distances = library_.Distances(wanted);
      const auto next = std::upper_bound(distances.begin(), distances.end(), done);
      if (next == distances.end()) break;
      if (round >= kMostTiers) at_a_time *= 2;
      done = *(next + std::min(at_a_time, distances.end() - next) - 1);
      library_.Open(wanted, done);
      SolveWith(group, wanted, done, found);
    }
    return found;
  }

  /// Lays the captures up to a distance over the launches of a group, until all that are used pass.
  void SolveWith(const GraphLaunches::Group& group, const WantedCapture& wanted, int64_t distance,
                 std::vector<Finding>& found) {
    const std::vector<int64_t> distances = library_.Distances(wanted);
    std::vector<Usable> usable;
    for (uint32_t c = 0; c < library_.captures().size(); ++c) {
      const int64_t at = library_.DistanceOf(wanted, library_.captures()[c]);
      if (at > distance) continue;
      const auto tier = std::lower_bound(distances.begin(), distances.end(), at);
      usable.push_back({c, std::min<int64_t>(kMostTiers, tier - distances.begin())});
    }
    KeepNearestOfEqual(usable);
    if (usable.empty()) return;
    for (int attempts = 0; attempts < kMostAttempts; ++attempts) {
      std::vector<Finding> attempt = LayOver(group, usable);
      const bool passed = Judge(group, attempt);
      Keep(attempt, found);
      if (passed) return;
    }
  }

  /// Captures for many batch sizes are often the same kernels in the same modules.
  void KeepNearestOfEqual(std::vector<Usable>& usable) const {
    std::stable_sort(usable.begin(), usable.end(),
                     [](const Usable& a, const Usable& b) { return a.tier < b.tier; });
    std::set<uint64_t> seen;
    std::erase_if(usable, [&](const Usable& one) {
      return !seen.insert(library_.captures()[one.capture].content).second;
    });
    std::sort(usable.begin(), usable.end(),
              [](const Usable& a, const Usable& b) { return a.capture < b.capture; });
  }

  /// A reason that was found first stays: the captures that it speaks of are the likeliest.
  static void Keep(std::vector<Finding>& attempt, std::vector<Finding>& found) {
    for (size_t i = 0; i < found.size(); ++i) {
      Finding& from = attempt[i];
      const bool better = from.capture >= 0 || (found[i].capture < 0 && found[i].reason.empty());
      if (better) found[i] = std::move(from);
    }
  }

  std::vector<Finding> LayOver(const GraphLaunches::Group& group,
                               const std::vector<Usable>& usable) {
    std::vector<uint32_t> n_pieces;
    for (const LibraryCapture& capture : library_.captures()) {
      n_pieces.push_back(static_cast<uint32_t>(capture.pieces.size()));
    }
    static const LaunchChoices kClosed;
    std::map<uint32_t, SequenceChoices> of_sequence;
    std::vector<const LaunchChoices*> choices(group.end - group.begin, &kClosed);
    std::vector<Finding> attempt(choices.size());
    for (uint32_t i = group.begin; i < group.end; ++i) {
      if (!IsOpen(i)) continue;
      const auto [at, is_new] = of_sequence.try_emplace(graphs_.launches[i].sequence);
      if (is_new) FindChoices(i, usable, at->second);
      choices[i - group.begin] = &at->second.choices;
      attempt[i - group.begin] = at->second.nearest;
    }
    const std::vector<LaunchLayout> layout = LayForwards(choices, n_pieces, CutsOf(group));
    for (uint32_t i = group.begin; i < group.end; ++i) {
      const size_t at = i - group.begin;
      if (layout[at].chosen != kNoPiece) TakeChoice(i, *choices[at], layout[at], attempt[at]);
    }
    return attempt;
  }

  trace::ThreadId ThreadOf(uint32_t launch) const {
    return resolution_.trace.calls.thread[graphs_.launches[launch].call.index()];
  }

  /// The window may cut the first and the last forward of a thread.
  WindowCuts CutsOf(const GraphLaunches::Group& group) const {
    WindowCuts cuts;
    cuts.at_first = group.begin == 0 || ThreadOf(group.begin - 1) != ThreadOf(group.begin);
    cuts.at_last =
        group.end == graphs_.launches.size() || ThreadOf(group.end) != ThreadOf(group.begin);
    cuts.cost = kKernelCost;
    return cuts;
  }

  void FindChoices(uint32_t launch, const std::vector<Usable>& usable, SequenceChoices& found) {
    LaunchChoices& choices = found.choices;
    Finding& nearest = found.nearest;
    choices.none_cost = (fits_.Replayed(launch).n_kernels + 1) * kKernelCost;
    const PieceFit* best = nullptr;
    // Of captures of one piece a dearer one is never on a best way: it need not be laid.
    int64_t cheapest = std::numeric_limits<int64_t>::max();
    for (const Option& option : OptionsOf(launch, usable)) {
      const std::vector<RecordedSequence>& pieces = library_.captures()[option.capture].pieces;
      const bool whole = pieces.size() == 1;
      if (whole && option.least_cost > cheapest) continue;
      const PieceFit& fit = fits_.Of(launch, option.capture, option.piece);
      if (fit.possible && !refused_.contains(fits_.KeyOf(launch, option.capture, option.piece))) {
        const int64_t cost = fit.differences * kKernelCost + option.tier;
        choices.candidates.push_back({option.capture, option.piece, cost});
        if (whole) cheapest = std::min(cheapest, cost);
      }
      if (best != nullptr && best->matched >= fit.matched) continue;
      best = &fit;
      nearest.nearest = option.capture;
      nearest.reason = fit.reason.empty()
                           ? fmt::format("{} of {} kernels agree with the capture, which has {}",
                                         fit.matched, fit.kernels, pieces[option.piece].n_kernels)
                           : fit.reason;
    }
    std::sort(choices.candidates.begin(), choices.candidates.end(),
              [](const PieceCandidate& a, const PieceCandidate& b) {
                return std::pair(a.recording, a.piece) < std::pair(b.recording, b.piece);
              });
  }

  void TakeChoice(uint32_t launch, const LaunchChoices& choices, const LaunchLayout& layout,
                  Finding& finding) {
    const PieceCandidate& chosen = choices.candidates[layout.chosen];
    const PieceFit& fit = fits_.Of(launch, chosen.recording, chosen.piece);
    for (const uint32_t other : layout.also_best) {
      const PieceCandidate& also = choices.candidates[other];
      if (SameNaming(launch, chosen, also)) continue;
      finding.nearest = chosen.recording;
      finding.reason = "several captures or pieces fit equally well and name modules differently";
      return;
    }
    finding = {chosen.recording, chosen.piece, &fit, {}, -1};
  }

  bool SameNaming(uint32_t launch, const PieceCandidate& a, const PieceCandidate& b) {
    const PieceFit& fit_a = fits_.Of(launch, a.recording, a.piece);
    const PieceFit& fit_b = fits_.Of(launch, b.recording, b.piece);
    const std::vector<uint64_t>& naming_a = library_.captures()[a.recording].naming[a.piece];
    const std::vector<uint64_t>& naming_b = library_.captures()[b.recording].naming[b.piece];
    for (size_t i = 0; i < fit_a.node_of.size(); ++i) {
      const uint32_t node_a = fit_a.node_of[i];
      const uint32_t node_b = fit_b.node_of[i];
      if (node_a == kUnmatched || node_b == kUnmatched) continue;
      if (naming_a[node_a] != naming_b[node_b]) return false;
    }
    return true;
  }

  /// Takes back what does not pass, forward by forward. True: everything passed.
  bool Judge(const GraphLaunches::Group& group, std::vector<Finding>& attempt) {
    bool passed = true;
    for (size_t begin = 0; begin < attempt.size();) {
      const size_t end = ForwardEnd(attempt, begin);
      if (attempt[begin].capture >= 0) {
        const std::span<Finding> forward = std::span(attempt).subspan(begin, end - begin);
        passed &= JudgeForward(group.begin + static_cast<uint32_t>(begin), forward);
      }
      begin = end;
    }
    return passed;
  }

  bool JudgeForward(uint32_t first_launch, std::span<Finding> forward) {
    const auto capture = static_cast<uint32_t>(forward.front().capture);
    ForwardTotal total;
    for (const Finding& finding : forward) {
      total.kernels += finding.fit->kernels;
      total.matched += finding.fit->matched;
      total.uncertain += finding.fit->uncertain;
      total.agreeing += finding.fit->agreeing;
      total.missing += finding.fit->missing;
      total.differences += finding.fit->differences;
      total.recorded += library_.captures()[capture].pieces[finding.piece].n_kernels;
    }
    const std::string why = WhyNot(total);
    if (why.empty()) return true;
    for (size_t i = 0; i < forward.size(); ++i) {
      const auto launch = first_launch + static_cast<uint32_t>(i);
      // Pieces without a difference may belong to other forwards that pass.
      if (total.differences == 0 || forward[i].fit->differences > 0) {
        refused_.insert(fits_.KeyOf(launch, capture, forward[i].piece));
      }
      forward[i] = {-1, 0, nullptr, why, capture};
    }
    return false;
  }

  void Apply(const GraphLaunches::Group& group, const std::vector<Finding>& found) {
    for (uint32_t i = group.begin; i < group.end; ++i) {
      if (IsOpen(i)) placement_.Write(i, WantedFor(group), found[i - group.begin]);
    }
  }

  std::vector<int64_t> KernelsOf(const GraphLaunches::Group& group) {
    std::vector<int64_t> n_kernels;
    for (uint32_t i = group.begin; i < group.end; ++i) {
      n_kernels.push_back(IsOpen(i) ? fits_.Replayed(i).n_kernels : -1);
    }
    return n_kernels;
  }

  Resolution& resolution_;
  const GraphLaunches& graphs_;
  const std::optional<int64_t> rank_;
  CaptureLibrary library_;
  CapturePlacement placement_;
  CaptureDoubts doubts_;
  CaptureFits fits_;
  std::set<CaptureFits::Key> refused_;  // in this group: did not pass
};

}  // namespace

void ResolveByCaptures(Resolution& resolution, const Sources& sources) {
  if (sources.captures.empty() || resolution.graphs.launches.empty()) return;
  CaptureResolver(resolution, sources).Run();
}

}  // namespace layerscope::replay
