#include "src/replay/whole_replays.h"

#include <algorithm>
#include <utility>

#include "src/replay/sequence_alignment.h"
#include "src/replay/supersequence.h"

namespace layerscope::replay {
namespace {

/// Launches of a place that differ from one another and are compared; the more there are, the less
/// each one adds.
constexpr size_t kMostCompared = 32;
/// Places that one sequence is asked for. It is the same graph in all of them.
constexpr size_t kMostPlaces = 4;
/// Launches of one place for which no whole was found, after which it is not tried any more.
constexpr int kMostFailures = 8;
/// Cells of one table (8 bytes each); of all tables together, some seconds.
constexpr size_t kMaxCells = size_t{1} << 23;
constexpr size_t kMaxWork = size_t{1} << 28;

}  // namespace

WholeReplays::WholeReplays(const trace::Trace& trace, const GraphLaunches& graphs)
    : trace_(trace),
      graphs_(graphs),
      places_of_(graphs.n_sequences),
      example_(graphs.n_sequences, 0),
      work_left_(kMaxWork) {
  for (const GraphLaunches::Group& group : graphs.groups) {
    for (uint32_t i = group.begin; i < group.end; ++i) {
      Place key;
      if (group.step.valid()) {
        key = {group.batch, group.tokens, group.end - group.begin, i - group.begin};
      }
      const uint32_t sequence = graphs.launches[i].sequence;
      example_[sequence] = i;
      if (graphs.launches[i].burst) continue;
      PlaceLaunches& place = places_[key];
      ++place.n_of_sequence[sequence];
      std::vector<PlaceLaunches*>& known = places_of_[sequence];
      const bool is_new = std::find(known.begin(), known.end(), &place) == known.end();
      if (is_new && known.size() < kMostPlaces) known.push_back(&place);
    }
  }
}

const std::vector<uint32_t>& WholeReplays::Likeliest(PlaceLaunches& place) const {
  if (!place.likeliest.empty()) return place.likeliest;
  std::vector<std::pair<int64_t, uint32_t>> all;
  for (const auto& [sequence, n] : place.n_of_sequence) all.emplace_back(-n, sequence);
  const size_t n_kept = std::min(all.size(), kMostCompared);
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n_kept), all.end());
  for (size_t i = 0; i < n_kept; ++i) place.likeliest.push_back(all[i].second);
  return place.likeliest;
}

const WholeReplays::Names& WholeReplays::NamesOf(uint32_t sequence) {
  const auto [at, is_new] = names_of_.try_emplace(sequence);
  if (!is_new) return at->second;
  const ReplayedSequence replayed = ReadReplayed(trace_, graphs_.launches[example_[sequence]]);
  if (!replayed.one_lane) return at->second;
  for (const Element& element : replayed.elements) {
    if (!element.is_copy) at->second.push_back(element.symbol);
  }
  return at->second;
}

const ReplayedSequence* WholeReplays::Find(uint32_t launch, size_t n_kernels) {
  const uint32_t sequence = graphs_.launches[launch].sequence;
  const Names& names = NamesOf(sequence);
  if (names.empty() || names.size() >= n_kernels) return nullptr;
  for (PlaceLaunches* const place : places_of_[sequence]) {
    if (const Whole* const whole = FindAt(*place, names, n_kernels)) return &whole->sequence;
  }
  return nullptr;
}

const WholeReplays::Whole* WholeReplays::FindAt(PlaceLaunches& place, const Names& names,
                                                size_t n_kernels) {
  Wholes& wholes = place.wholes[n_kernels];
  if (!std::exchange(wholes.begun, true)) AddWholeLaunches(place, n_kernels, wholes);
  const Whole* holding = nullptr;
  for (const Whole* const whole : wholes.found) {
    if (!IsSubsequence(names, whole->names)) continue;
    if (holding != nullptr) return nullptr;  // two graphs, and nothing tells which one
    holding = whole;
  }
  if (holding != nullptr || wholes.failures >= kMostFailures) return holding;
  std::optional<Names> joined = Joined(place, names, n_kernels);
  if (joined) return wholes.found.emplace_back(Keep(std::move(*joined)));
  ++wholes.failures;
  return nullptr;
}

void WholeReplays::AddWholeLaunches(PlaceLaunches& place, size_t n_kernels, Wholes& wholes) {
  for (const uint32_t sequence : Likeliest(place)) {
    const Names& names = NamesOf(sequence);
    if (names.size() != n_kernels) continue;
    const bool known = std::any_of(wholes.found.begin(), wholes.found.end(),
                                   [&](const Whole* whole) { return whole->names == names; });
    if (!known) wholes.found.push_back(Keep(names));
  }
}

std::optional<WholeReplays::Names> WholeReplays::Joined(PlaceLaunches& place, Names names,
                                                        size_t n_kernels) {
  for (const uint32_t sequence : Likeliest(place)) {
    const Names& other = NamesOf(sequence);
    // Each row of a table is as wide as what may be missing, at least.
    const size_t cells = (names.size() + 1) * (n_kernels - std::min(n_kernels, names.size()) + 1);
    if (other.empty() || other.size() > n_kernels || cells > work_left_) continue;
    work_left_ -= cells;
    std::optional<Names> joined =
        OnlySupersequence(names, other, n_kernels, std::min(kMaxCells, work_left_));
    if (joined) names = std::move(*joined);
    if (names.size() == n_kernels) return names;
  }
  return std::nullopt;
}

const WholeReplays::Whole* WholeReplays::Keep(Names names) {
  Whole& whole = kept_.emplace_back();
  for (const uint32_t name : names) {
    whole.sequence.elements.push_back({name, 0, false});
    whole.sequence.names.emplace_back(name);
  }
  whole.sequence.sorted = names;
  std::sort(whole.sequence.sorted.begin(), whole.sequence.sorted.end());
  whole.sequence.n_kernels = static_cast<int64_t>(names.size());
  whole.names = std::move(names);
  return &whole;
}

PieceFit FitThroughWhole(const ReplayedSequence& replayed, const ReplayedSequence& whole,
                         const PieceFit& whole_fit, const RecordedSequence& recorded) {
  PieceFit fit;
  fit.kernels = replayed.n_kernels;
  fit.work = whole_fit.work;
  std::vector<Element> kernels;
  std::vector<uint32_t> position;
  for (uint32_t i = 0; i < replayed.elements.size(); ++i) {
    if (replayed.elements[i].is_copy) continue;
    kernels.push_back(replayed.elements[i]);
    position.push_back(i);
  }
  // What the whole graph leaves open is no place that any other may take.
  std::vector<uint32_t> places;
  for (uint32_t w = 0; w < whole.elements.size(); ++w) {
    const uint32_t node = whole_fit.node_of[w];
    places.push_back(node == kUnmatched ? ~w : recorded.places[node]);
  }
  const auto n_lost = static_cast<size_t>(whole.n_kernels - replayed.n_kernels);
  const SequenceMatch match = AlignSequences(kernels, whole.elements, places, n_lost);
  fit.work += match.work;
  if (!match.aligned) return fit;
  fit.node_of.assign(replayed.elements.size(), kUnmatched);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const uint32_t at = match.recorded_of[k];
    if (at != kUnmatched) fit.node_of[position[k]] = whole_fit.node_of[at];
    if (fit.node_of[position[k]] != kUnmatched) ++fit.matched;
  }
  fit.uncertain = match.n_uncertain;
  fit.missing = match.n_only_recorded;
  fit.differences = match.n_differences + whole_fit.differences;
  // At least: those that are lost or open here may be ones that something spoke for.
  fit.agreeing =
      std::max<int64_t>(0, whole_fit.agreeing - match.n_only_recorded - match.n_uncertain);
  fit.possible = whole_fit.possible;
  return fit;
}

}  // namespace layerscope::replay
