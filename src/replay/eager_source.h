#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "src/replay/recorded_names.h"
#include "src/replay/recording.h"
#include "src/replay/row_placer.h"

namespace layerscope::replay {

/// What a replayed forward is known to be.
struct Wanted {
  std::string_view phase;
  std::optional<int64_t> batch;
};

/// The forwards of one eager trace, made ready for alignment when they are asked for.
class EagerSource {
 public:
  EagerSource(const trace::Trace& replayed, const SideTrace& side);

  bool empty() const { return forwards_.empty(); }
  const SideTrace& side() const { return side_; }
  const Recording& forward(uint32_t index) const { return forwards_[index]; }
  /// Forwards of distinct kernel sequences, the likeliest first: same phase, then the nearest
  /// batch, then the first. At most kMaxCandidates.
  std::vector<uint32_t> Candidates(const Wanted& wanted);
  const RecordedSequence& SequenceOf(uint32_t index) { return Prepare(index).sequence; }
  RowPlacer& placer(attribution::ModuleGraft& graft);

  /// A trace of thousands of eager steps has few kinds of forward; what none of these explains is
  /// another model's, or another kernel library's.
  static constexpr size_t kMaxCandidates = 24;

 private:
  struct Prepared {
    bool done = false;
    uint64_t hash = 0;
    RecordedSequence sequence;
  };
  Prepared& Prepare(uint32_t index);

  const SideTrace& side_;
  RecordedNames names_;
  std::vector<Recording> forwards_;
  std::vector<Prepared> prepared_;
  std::unique_ptr<RowPlacer> placer_;
};

}  // namespace layerscope::replay
