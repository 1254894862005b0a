#include "src/replay/eager_resolver.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
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

class EagerResolver {
 public:
  EagerResolver(Resolution& resolution, const Sources& sources)
      : resolution_(resolution), own_{{}, {}, {}, &resolution.trace, &resolution.attribution} {
    given_ = !sources.eager.empty();
    for (const SideFile& file : sources.eager) {
      const SideTrace* const side = file.open ? file.open() : nullptr;
      if (side != nullptr) Add(*side);
    }
    if (!given_) Add(own_);
  }

  void Run() {
    if (sources_.empty()) return;
    const ReplayedForwards replayed(resolution_);
    position_of_row_.resize(resolution_.trace.activities.size());
    for (const GraphLaunches::Group& group : resolution_.graphs.groups) {
      for (const Cut cut : {Cut::kStep, Cut::kPeriod, Cut::kLaunch}) {
        for (const LaunchRange& range : replayed.Ranges(group, cut)) {
          if (!AllPlaced(range)) Resolve(group, range, replayed.Rows(group, range, cut));
        }
      }
    }
  }

 private:
  void Add(const SideTrace& side) {
    auto source = std::make_unique<EagerSource>(resolution_.trace, side);
    if (!source->empty()) sources_.push_back(std::move(source));
  }

  bool AllPlaced(const LaunchRange& range) const {
    return std::all_of(resolution_.outcomes.begin() + range.begin,
                       resolution_.outcomes.begin() + range.end,
                       [](const LaunchOutcome& outcome) { return outcome.placed(); });
  }

  void Resolve(const GraphLaunches::Group& group, const LaunchRange& range,
               const ReplayedForward& forward) {
    const bool burst = std::any_of(resolution_.graphs.launches.begin() + range.begin,
                                   resolution_.graphs.launches.begin() + range.end,
                                   [](const GraphLaunch& launch) { return launch.burst; });
    if (burst) return;  // their order is unknown
    const Wanted wanted = WantedOf(group);
    const std::vector<Element> elements = ElementsOf(resolution_.trace, forward);
    const uint64_t key = KeyOf(elements, forward.under_graph, wanted);
    const auto [known, is_new] = attempts_.try_emplace(key);
    if (is_new) attempts_[key] = Try(elements, forward.under_graph, wanted);
    const Attempt& attempt = attempts_[key];
    if (attempt.source == nullptr) return;
    if (attempt.fit.fits && attempt.fit.node_of.size() == forward.rows.size()) {
      Place(range, forward, attempt);
    } else if (given_) {
      Withhold(range, attempt);
    }
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

  /// The forward that fits; else the one that comes nearest.
  struct Attempt {
    EagerSource* source = nullptr;
    uint32_t forward = 0;
    int64_t number = 0;  ///< of the attempt: one for each kind of forward
    EagerFit fit;
  };
  Attempt Try(const std::vector<Element>& elements, const std::vector<uint8_t>& under_graph,
              const Wanted& wanted) {
    Attempt best;
    for (const std::unique_ptr<EagerSource>& source : sources_) {
      for (const uint32_t forward : source->Candidates(wanted)) {
        const size_t work =
            AlignmentWork(elements.size(), source->ElementsOfForward(forward).size());
        if (work > work_left_) continue;
        EagerFit fit = FitEager(elements, under_graph, source->ElementsOfForward(forward),
                                source->PlacesOfForward(forward));
        if (!fit.node_of.empty()) work_left_ -= work;
        const auto merit = [](const EagerFit& of) { return std::pair(of.matched, of.named); };
        if (best.source != nullptr && !fit.fits && merit(fit) <= merit(best.fit)) continue;
        best = {source.get(), forward, static_cast<int64_t>(attempts_.size()), std::move(fit)};
        if (best.fit.fits) return best;
      }
    }
    best.fit.node_of = {};
    return best;
  }

  void Withhold(const LaunchRange& range, const Attempt& attempt) {
    for (uint32_t i = range.begin; i < range.end; ++i) {
      LaunchOutcome& outcome = resolution_.outcomes[i];
      if (outcome.placed() || outcome.withheld) continue;
      outcome.source = attempt.source->side().path;
      outcome.source_batch = attempt.source->forward(attempt.forward).batch;
      outcome.withheld = true;
      outcome.reason = ReasonOf(attempt.fit);
    }
  }

  void Place(const LaunchRange& range, const ReplayedForward& forward, const Attempt& attempt) {
    for (uint32_t i = 0; i < forward.rows.size(); ++i) position_of_row_[forward.rows[i]] = i;
    const Recording& eager = attempt.source->forward(attempt.forward);
    bool first = true;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      LaunchOutcome& outcome = resolution_.outcomes[i];
      if (outcome.placed()) continue;
      outcome = {};
      PlaceLaunch(resolution_.graphs.launches[i], eager, attempt, outcome);
      outcome.evidence = attribution::Evidence::kEagerAlignment;
      outcome.source = attempt.source->side().path;
      outcome.source_batch = eager.batch;
      outcome.recording = attempt.number;
      outcome.pieces = range.end - range.begin;
      outcome.missing = first ? attempt.fit.missing : 0;
      outcome.confidence =
          static_cast<double>(attempt.fit.matched) / static_cast<double>(attempt.fit.kernels);
      first = false;
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

  Resolution& resolution_;
  SideTrace own_;
  bool given_ = false;
  size_t work_left_ = kMaxWork;
  std::vector<std::unique_ptr<EagerSource>> sources_;
  tsl::robin_map<uint64_t, Attempt, base::MixHash> attempts_;
  std::vector<uint32_t> position_of_row_;
};

}  // namespace

void ResolveByEager(Resolution& resolution, const Sources& sources) {
  if (!resolution.AllPlaced()) EagerResolver(resolution, sources).Run();
}

}  // namespace layerscope::replay
