#pragma once

#include <tsl/robin_map.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/hash.h"
#include "src/replay/capture_library.h"
#include "src/replay/graph_launches.h"
#include "src/replay/piece_fit.h"
#include "src/replay/whole_replays.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// How each graph launch lies over each captured piece, found when it is first asked for. All of it
/// together may cost a bounded amount of work.
class CaptureFits {
 public:
  /// All three outlive this.
  CaptureFits(const trace::Trace& trace, const GraphLaunches& graphs,
              const CaptureLibrary& library);

  /// Launches of equal sequence lie alike.
  struct Key {
    uint32_t sequence, capture, piece;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key KeyOf(uint32_t launch, uint32_t capture, uint32_t piece) const {
    return {graphs_.launches[launch].sequence, capture, piece};
  }

  const ReplayedSequence& Replayed(uint32_t launch);
  const PieceFit& Of(uint32_t launch, uint32_t capture, uint32_t piece);
  /// No more than the fit has; costs less to find out.
  int64_t LeastDifferences(uint32_t launch, uint32_t capture, uint32_t piece);

 private:
  struct KeyHash {
    uint64_t operator()(const Key& key) const noexcept {
      return base::Mix((uint64_t{key.sequence} << 32 | key.capture) * 0x9e3779b97f4a7c15ULL +
                       key.piece);
    }
  };

  PieceFit Lay(uint32_t launch, uint32_t capture, uint32_t piece);
  PieceFit LayUnnamed(uint32_t launch, const RecordedSequence& recorded,
                      const RecordedLabels& labels);

  const trace::Trace& trace_;
  const GraphLaunches& graphs_;
  const CaptureLibrary& library_;
  WholeReplays wholes_;
  std::vector<ReplayedSequence> replayed_;  // by sequence; empty: not read yet
  tsl::robin_map<Key, std::unique_ptr<PieceFit>, KeyHash> fit_of_;
  tsl::robin_map<Key, int64_t, KeyHash> least_of_;
  int64_t work_left_;
};

}  // namespace layerscope::replay
