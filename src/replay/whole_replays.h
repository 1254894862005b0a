#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "src/replay/graph_launches.h"
#include "src/replay/piece_fit.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// What a graph replays when nothing is lost, as its launches together show it: each may lack
/// kernels, but not each the same ones. Launches count as of one graph when they stand at the same
/// place in steps of equal size, or when no step says it.
///
/// A launch with as many kernels as are wanted is a whole one. Else launches are joined: the
/// graph's kernels are a common supersequence of what they show; where the shortest one of two has
/// the wanted length, and no other has it, it is the graph. More than two are joined one by one.
class WholeReplays {
 public:
  /// Both outlive this.
  WholeReplays(const trace::Trace& trace, const GraphLaunches& graphs);

  /// The `n_kernels` kernels of the graph of a launch that shows fewer, without copies; what the
  /// launch shows is a subsequence of them. Null: the launches do not tell, or run on several
  /// streams.
  const ReplayedSequence* Find(uint32_t launch, size_t n_kernels);

 private:
  using Names = std::vector<uint32_t>;  // by StringId index
  /// Batch, query tokens, launches of the step, which of them it is. All unknown: no step.
  using Place = std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t, uint32_t>;
  struct Whole {
    Names names;
    ReplayedSequence sequence;
  };
  /// What is known of the graphs of one place with some number of kernels.
  struct Wholes {
    bool begun = false;
    std::vector<const Whole*> found;
    int failures = 0;
  };
  struct PlaceLaunches {
    std::map<uint32_t, int64_t> n_of_sequence;  // launches
    std::vector<uint32_t> likeliest;            // sequences with the most launches; filled once
    std::map<size_t, Wholes> wholes;            // by number of kernels
  };

  const std::vector<uint32_t>& Likeliest(PlaceLaunches& place) const;
  const Names& NamesOf(uint32_t sequence);
  const Whole* FindAt(PlaceLaunches& place, const Names& names, size_t n_kernels);
  void AddWholeLaunches(PlaceLaunches& place, size_t n_kernels, Wholes& wholes);
  std::optional<Names> Joined(PlaceLaunches& place, Names names, size_t n_kernels);
  const Whole* Keep(Names names);

  const trace::Trace& trace_;
  const GraphLaunches& graphs_;
  std::map<Place, PlaceLaunches> places_;
  std::vector<std::vector<PlaceLaunches*>> places_of_;  // by sequence; a few
  std::vector<uint32_t> example_;                       // by sequence: a launch
  std::map<uint32_t, Names> names_of_;                  // by sequence; empty: on several streams
  std::deque<Whole> kept_;
  size_t work_left_;
};

/// A launch that lacks kernels, laid over a piece through the whole graph, which lies over it as
/// `whole_fit` says.
PieceFit FitThroughWhole(const ReplayedSequence& replayed, const ReplayedSequence& whole,
                         const PieceFit& whole_fit, const RecordedSequence& recorded);

}  // namespace layerscope::replay
