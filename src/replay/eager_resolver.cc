#include "src/replay/eager_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/hash.h"
#include "src/replay/eager_fit.h"
#include "src/replay/eager_replays.h"
#include "src/replay/eager_source.h"
#include "src/replay/row_placer.h"

namespace layerscope::replay {
namespace {

/// All alignments of one trace together. Real ones need a hundredth of it; what is left when it is
/// used up stays unresolved.
constexpr size_t kMaxWork = size_t{1} << 31;

std::string ReasonOf(const EagerFit& fit) {
  if (fit.matched == 0) {
    return fmt::format("its likeliest forward runs {} of the {} replayed kernels", fit.named,
                       fit.kernels);
  }
  return fmt::format("{} of {} replayed kernels align with its likeliest forward", fit.matched,
                     fit.kernels);
}

/// A launch alone is a forward only where it stands for so much of the eager one. A piece of a
/// forward may look like a piece of another model's (a draft model ends like its target).
constexpr double kWholeForward = 0.75;

class EagerResolver {
 public:
  /// `own`: the source is the trace itself, of which nobody expects that it serves.
  EagerResolver(Resolution& resolution, const std::vector<const SideTrace*>& sides, bool own)
      : resolution_(resolution), own_(own) {
    for (const SideTrace* const side : sides) {
      auto source = std::make_unique<EagerSource>(resolution.trace, *side);
      if (!source->empty()) sources_.push_back(std::move(source));
    }
  }

  bool empty() const { return sources_.empty(); }

  void Run() {
    if (sources_.empty()) return;
    const ReplayedForwards replayed(resolution_);
    position_of_row_.resize(resolution_.trace.activities.size());
    for (const bool whole : {true, false}) {
      for (size_t g = 0; g < resolution_.graphs.groups.size(); ++g) {
        if (IsWhole(g) != whole) continue;
        for (const Cut cut : {Cut::kStep, Cut::kPeriod, Cut::kLaunch}) {
          ResolveGroup(replayed, resolution_.graphs.groups[g], cut, whole);
        }
      }
    }
  }

 private:
  /// The forward that fits; else the one that comes nearest.
  struct Attempt {
    EagerSource* source = nullptr;
    uint32_t forward = 0;
    int64_t number = 0;  ///< of the attempt: one for each kind of forward
    EagerFit fit;
  };
  /// One forward of a group. What is used is decided when all of them have been laid.
  struct Laid {
    LaunchRange range;
    ReplayedForward forward;
    const Attempt* attempt = nullptr;
    std::string_view refused;  ///< why it is not used though it fits
  };

  /// What stands in no step may be the rest of one. The window may have cut the first and the last
  /// step of a thread between two graphs; not where the step beside it replays the same ones.
  bool IsWhole(size_t index) const {
    const std::vector<GraphLaunches::Group>& groups = resolution_.graphs.groups;
    const GraphLaunches::Group& group = groups[index];
    if (group.end - group.begin == 1) return true;
    if (!group.step.valid()) return false;
    const bool first = index == 0 || !SameThread(groups[index - 1], group);
    const bool last = index + 1 == groups.size() || !SameThread(groups[index + 1], group);
    return (!first && !last) || (!first && SameGraphs(groups[index - 1], group)) ||
           (!last && SameGraphs(groups[index + 1], group));
  }
  bool SameThread(const GraphLaunches::Group& a, const GraphLaunches::Group& b) const {
    const std::vector<trace::ThreadId>& thread = resolution_.trace.calls.thread;
    const std::vector<GraphLaunch>& launches = resolution_.graphs.launches;
    return thread[launches[a.begin].call.index()] == thread[launches[b.begin].call.index()];
  }
  bool SameGraphs(const GraphLaunches::Group& a, const GraphLaunches::Group& b) const {
    const std::vector<GraphLaunch>& launches = resolution_.graphs.launches;
    return std::equal(launches.begin() + a.begin, launches.begin() + a.end,
                      launches.begin() + b.begin, launches.begin() + b.end,
                      [](const GraphLaunch& one, const GraphLaunch& other) {
                        return one.sequence == other.sequence;
                      });
  }

  /// What is left of a step may look like a whole forward of a smaller model.
  void RefuseCutSteps(std::vector<Laid>& all) const {
    for (Laid& laid : all) {
      if (fits_whole_.contains({laid.attempt->source, laid.attempt->forward})) continue;
      laid.refused = "only a part of a forward may have run, and no whole one fits";
    }
  }

  void ResolveGroup(const ReplayedForwards& replayed, const GraphLaunches::Group& group, Cut cut,
                    bool whole) {
    std::vector<Laid> all;
    for (const LaunchRange& range : replayed.Ranges(group, cut)) {
      if (AllPlaced(range) || AnyBurst(range)) continue;  // a burst's order is unknown
      ReplayedForward forward = replayed.Rows(group, range, cut);
      const Attempt& attempt = Lay(group, forward);
      if (attempt.source == nullptr) continue;
      all.push_back({range, std::move(forward), &attempt, {}});
    }
    // Without a step only what repeats is known to be whole.
    const bool repeats = cut == Cut::kPeriod && all.size() > 1;
    if (!whole && cut != Cut::kLaunch && !repeats) RefuseCutSteps(all);
    if (cut == Cut::kPeriod) RefuseTail(all);
    if (cut == Cut::kLaunch) RefuseParts(group, all);
    for (const Laid& laid : all) {
      if (Fits(laid) && laid.refused.empty()) {
        Place(laid.range, laid.forward, *laid.attempt);
        if (whole || repeats) fits_whole_.emplace(laid.attempt->source, laid.attempt->forward);
      } else if (!own_) {
        WithholdAll(laid);
      }
    }
  }

  static bool Fits(const Laid& laid) {
    return laid.attempt->fit.fits && laid.attempt->fit.node_of.size() == laid.forward.rows.size();
  }

  /// The window may have cut the last forward: what is left of it is this model's where a whole one
  /// is.
  static void RefuseTail(std::vector<Laid>& all) {
    if (all.empty()) return;
    const auto length = [](const Laid& laid) { return laid.range.end - laid.range.begin; };
    const uint32_t whole = length(all.front());
    const bool any_whole = std::any_of(all.begin(), all.end(), [&](const Laid& laid) {
      return length(laid) == whole && Fits(laid);
    });
    if (any_whole) return;
    for (Laid& laid : all) laid.refused = "only a part of a forward ran";
  }

  /// Single launches: pieces of a forward that does not fit as a whole are withheld with it, and of
  /// one step no two launches are the same forward.
  static void RefuseParts(const GraphLaunches::Group& group, std::vector<Laid>& all) {
    std::map<std::pair<const EagerSource*, uint32_t>, int64_t> n_of_forward;
    for (Laid& laid : all) {
      if (!Fits(laid)) continue;
      const EagerFit& fit = laid.attempt->fit;
      const auto matched = static_cast<double>(fit.matched);
      if (matched < kWholeForward * (matched + static_cast<double>(fit.missing))) {
        laid.refused = "the graph is a part of a forward, which as a whole does not fit";
      } else {
        ++n_of_forward[{laid.attempt->source, laid.attempt->forward}];
      }
    }
    if (!group.step.valid()) return;
    for (Laid& laid : all) {
      if (!Fits(laid) || !laid.refused.empty()) continue;
      if (n_of_forward[{laid.attempt->source, laid.attempt->forward}] > 1) {
        laid.refused = "several graphs of one step fit the same forward";
      }
    }
  }

  bool AllPlaced(const LaunchRange& range) const {
    return std::all_of(resolution_.outcomes.begin() + range.begin,
                       resolution_.outcomes.begin() + range.end,
                       [](const LaunchOutcome& outcome) { return outcome.placed(); });
  }

  bool AnyBurst(const LaunchRange& range) const {
    return std::any_of(resolution_.graphs.launches.begin() + range.begin,
                       resolution_.graphs.launches.begin() + range.end,
                       [](const GraphLaunch& launch) { return launch.burst; });
  }

  const Attempt& Lay(const GraphLaunches::Group& group, const ReplayedForward& forward) {
    const Wanted wanted = WantedOf(group);
    const std::vector<Element> elements = ElementsOf(resolution_.trace, forward);
    const auto [known, is_new] =
        attempts_.try_emplace(KeyOf(elements, forward.under_graph, wanted));
    if (is_new) known->second = Try(elements, forward.under_graph, wanted);
    return known->second;
  }

  Wanted WantedOf(const GraphLaunches::Group& group) const {
    Wanted wanted;
    wanted.batch = group.batch;
    if (group.step.valid()) {
      wanted.phase =
          attribution::ToString(resolution_.attribution.steps[group.step.index()].fields.phase);
    }
    return wanted;
  }

  static uint64_t KeyOf(const std::vector<Element>& elements,
                        const std::vector<uint8_t>& under_graph, const Wanted& wanted) {
    uint64_t key = base::Mix(static_cast<uint64_t>(wanted.batch.value_or(-1))) ^
                   std::hash<std::string_view>()(wanted.phase);
    for (size_t i = 0; i < elements.size(); ++i) {
      const uint64_t element =
          uint64_t{elements[i].symbol} << 32 | elements[i].lane << 1 | uint64_t{under_graph[i]};
      key = base::Mix(key * 31 + base::Mix(element));
    }
    return key;
  }

  Attempt Try(const std::vector<Element>& elements, const std::vector<uint8_t>& under_graph,
              const Wanted& wanted) {
    Attempt best;
    for (const std::unique_ptr<EagerSource>& source : sources_) {
      for (const uint32_t forward : source->Candidates(wanted)) {
        const RecordedSequence& eager = source->SequenceOf(forward);
        const size_t work = AlignmentWork(elements.size(), eager.elements.size());
        if (work > work_left_) continue;
        EagerFit fit = FitEager(elements, under_graph, eager.elements, eager.places);
        if (!fit.node_of.empty()) work_left_ -= work;
        const auto merit = [](const EagerFit& of) { return std::pair(of.matched, of.named); };
        if (best.source != nullptr && !fit.fits && merit(fit) <= merit(best.fit)) continue;
        best = {source.get(), forward, NextNumber(), std::move(fit)};
        if (best.fit.fits) return best;
      }
    }
    best.fit.node_of = {};
    return best;
  }

  void WithholdAll(const Laid& laid) {
    const EagerSource& source = *laid.attempt->source;
    const std::string reason =
        laid.refused.empty() ? ReasonOf(laid.attempt->fit) : std::string(laid.refused);
    for (uint32_t i = laid.range.begin; i < laid.range.end; ++i) {
      LaunchOutcome& outcome = resolution_.outcomes[i];
      if (outcome.placed()) continue;
      const bool first = !outcome.withheld;
      Withhold(outcome, attribution::Evidence::kEagerAlignment, source.side().path, reason);
      if (first) outcome.source_batch = source.forward(laid.attempt->forward).batch;
    }
  }

  void Place(const LaunchRange& range, const ReplayedForward& forward, const Attempt& attempt) {
    for (uint32_t i = 0; i < forward.rows.size(); ++i) position_of_row_[forward.rows[i]] = i;
    const Recording& eager = attempt.source->forward(attempt.forward);
    bool first = true;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (resolution_.outcomes[i].placed()) continue;
      LaunchOutcome outcome;
      PlaceLaunch(resolution_.graphs.launches[i], eager, attempt, outcome);
      outcome.evidence = attribution::Evidence::kEagerAlignment;
      outcome.source = attempt.source->side().path;
      outcome.own_steps = own_;
      outcome.source_batch = eager.batch;
      outcome.recording = attempt.number;
      outcome.pieces = range.end - range.begin;
      outcome.missing = first ? attempt.fit.missing : 0;
      outcome.confidence =
          static_cast<double>(attempt.fit.matched) / static_cast<double>(attempt.fit.kernels);
      first = false;
      PutInPlace(resolution_.outcomes[i], std::move(outcome));
    }
  }

  void PlaceLaunch(const GraphLaunch& launch, const Recording& eager, const Attempt& attempt,
                   LaunchOutcome& outcome) {
    if (launch.rows.empty()) return;
    RowPlacer& placer = attempt.source->placer(resolution_.graft);
    placer.BeginLaunch(launch.call, resolution_.attribution.scope[launch.rows.front()]);
    for (const uint32_t row : launch.rows) {
      const uint32_t node = attempt.fit.node_of[position_of_row_[row]];
      const bool kernel = resolution_.trace.activities.kind[row] == trace::ActivityKind::kKernel;
      if (kernel) (node != kUnmatched ? outcome.matched : outcome.mismatched) += 1;
      if (node == kUnmatched) continue;
      placer.Place(row, eager.pieces.front().nodes[node], attribution::Evidence::kEagerAlignment);
    }
  }

  /// Numbers of given files and of the trace itself are shown apart.
  int64_t NextNumber() const {
    return static_cast<int64_t>(attempts_.size()) | (own_ ? int64_t{1} << 40 : 0);
  }

  Resolution& resolution_;
  const bool own_;
  size_t work_left_ = kMaxWork;
  std::vector<std::unique_ptr<EagerSource>> sources_;
  std::map<uint64_t, Attempt> attempts_;
  std::set<std::pair<const EagerSource*, uint32_t>>
      fits_whole_;  ///< forwards that a whole one fits
  std::vector<uint32_t> position_of_row_;
};

/// Lays the files that were given, and says of one that cannot serve why.
void ResolveByGiven(Resolution& resolution, const std::vector<SideFile>& files) {
  std::vector<const SideTrace*> sides;
  for (const SideFile& file : files) {
    const SideTrace* const side = file.open ? file.open() : nullptr;
    if (side != nullptr) sides.push_back(side);
  }
  EagerResolver resolver(resolution, sides, false);
  if (resolver.empty()) {
    const std::string_view why =
        sides.empty() ? "it could not be read" : "it holds no eager forward";
    for (LaunchOutcome& outcome : resolution.outcomes) {
      Withhold(outcome, attribution::Evidence::kEagerAlignment, files.front().path, why);
    }
  }
  resolver.Run();
}

}  // namespace

void ResolveByEager(Resolution& resolution, const Sources& sources) {
  if (!sources.eager.empty() && !resolution.AllPlaced()) ResolveByGiven(resolution, sources.eager);
  if (resolution.AllPlaced()) return;
  const SideTrace own{{}, {}, {}, &resolution.trace, &resolution.attribution};
  EagerResolver(resolution, {&own}, true).Run();
}

}  // namespace layerscope::replay
