#pragma once
// Where a GPU's time goes, known while it is planned: each stretch of the device's time is put on
// its line when the plan decides it, and the stretches tile time from the session's begin on.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace layerscope::gen {

enum class NsysLine : uint8_t {
  kCompute,
  kExposedComm,
  kMemcpy,
  kQueuedGap,
  kHostWait,
  kLaunchGap,
  kBetweenSteps,
  kUnexplained,
  kByHost,  // an idle GPU whose next launch came too late: what its host does at that time
};
inline constexpr size_t kNsysLines = static_cast<size_t>(NsysLine::kByHost);
using NsysLines = std::array<int64_t, kNsysLines>;

class NsysTimeline {
 public:
  // From `at_ns` on the host does what an idle GPU of that time is put on.
  void HostDoes(int64_t at_ns, NsysLine line) { host_.push_back({at_ns, line}); }

  // The GPU is idle up to `until_ns`.
  void Idle(int64_t until_ns, NsysLine line) { Append(until_ns, line); }
  // The GPU works up to `until_ns`; what ends before the frontier lies below other work.
  void Work(int64_t until_ns, NsysLine line) { Append(until_ns, line); }

  // The last end of any work, the begin of the stretch that ends there, and its line.
  int64_t frontier_ns() const { return frontier_ns_; }
  int64_t last_start_ns() const { return tiles_.empty() ? frontier_ns_ : tiles_.back().start_ns; }
  NsysLine last_line() const { return tiles_.empty() ? NsysLine::kByHost : tiles_.back().line; }

  // The time in [from_ns, to_ns) by line. Everything before is forgotten; what the host does up to
  // `to_ns` must be known.
  NsysLines Take(int64_t from_ns, int64_t to_ns);

 private:
  struct Tile {
    int64_t start_ns, end_ns;
    NsysLine line;
  };
  struct HostState {
    int64_t at_ns;
    NsysLine line;
  };
  void Append(int64_t until_ns, NsysLine line) {
    if (until_ns <= frontier_ns_) return;
    tiles_.push_back({frontier_ns_, until_ns, line});
    frontier_ns_ = until_ns;
  }
  void AddByHost(int64_t from_ns, int64_t to_ns, NsysLines* lines);

  std::deque<Tile> tiles_;
  std::deque<HostState> host_ = {{0, NsysLine::kBetweenSteps}};
  int64_t frontier_ns_ = 0;
};

}  // namespace layerscope::gen
