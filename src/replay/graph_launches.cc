#include "src/replay/graph_launches.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "src/base/hash.h"
#include "src/replay/burst.h"

namespace layerscope::replay {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

/// The rows of one stream, and what tells its content from another's.
struct Lane {
  std::vector<uint32_t> rows;
  uint64_t hash = 0;
};

uint64_t HashOf(const trace::Trace& trace, std::span<const uint32_t> rows) {
  uint64_t hash = rows.size();
  for (const uint32_t row : rows) hash = base::MixIn(hash, trace.activities.name[row].index());
  return hash;
}

bool OnOneStream(const trace::Trace& trace, std::span<const uint32_t> rows) {
  const std::vector<trace::StreamId>& stream = trace.activities.stream;
  return std::all_of(rows.begin(), rows.end(),
                     [&](uint32_t row) { return stream[row] == stream[rows.front()]; });
}

class LaunchFinder {
 public:
  LaunchFinder(const trace::Trace& trace, const attribution::Attribution& attribution)
      : trace_(trace), attribution_(attribution) {}

  GraphLaunches Find() {
    FindLaunches();
    SortLaunches();
    NumberSequences();
    GroupLaunches();
    return std::move(out_);
  }

 private:
  void FindLaunches() {
    std::vector<uint32_t> launch_of_call(trace_.calls.size(), kNone);
    const size_t n_rows = attribution_.cpu_only ? 0 : trace_.activities.size();
    for (uint32_t row = 0; row < n_rows; ++row) {
      const trace::CallId call = attribution_.launch[row];
      if (attribution_.under_graph[row] == 0 || !call.valid()) continue;
      uint32_t& index = launch_of_call[call.index()];
      if (index == kNone) {
        index = static_cast<uint32_t>(out_.launches.size());
        out_.launches.push_back({call, attribution_.step[row], {}, 0, false});
      }
      out_.launches[index].rows.push_back(row);
    }
    const trace::Activities& all = trace_.activities;
    for (GraphLaunch& launch : out_.launches) {
      std::sort(launch.rows.begin(), launch.rows.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(all.start_ns[a], a) < std::pair(all.start_ns[b], b);
      });
      launch.rows.shrink_to_fit();
      launch.burst = IsBurst(trace_, launch.rows);
    }
  }

  trace::ProcessId ProcessOf(const GraphLaunch& launch) const {
    return trace_.threads[trace_.calls.thread[launch.call.index()].index()].process;
  }

  void SortLaunches() {
    const trace::Calls& calls = trace_.calls;
    const auto key = [&](const GraphLaunch& launch) {
      const size_t call = launch.call.index();
      return std::tuple(ProcessOf(launch), calls.thread[call], calls.start_ns[call], call);
    };
    std::sort(out_.launches.begin(), out_.launches.end(),
              [&](const GraphLaunch& a, const GraphLaunch& b) { return key(a) < key(b); });
  }

  /// Do two launches replay the same names lane by lane?
  bool SameSequence(const LaneRows& a, const LaneRows& b) const {
    if (a.begin != b.begin) return false;
    const trace::Activities& all = trace_.activities;
    return std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(),
                      [&](uint32_t x, uint32_t y) {
                        return all.name[x] == all.name[y] && all.kind[x] == all.kind[y];
                      });
  }

  void NumberSequences() {
    // Hash -> the first sequence of that hash; further ones are chained behind it.
    tsl::robin_map<uint64_t, uint32_t, base::MixHash> first_of_hash;
    std::vector<uint32_t> next;     // by sequence
    std::vector<uint32_t> example;  // by sequence: a launch
    for (uint32_t i = 0; i < out_.launches.size(); ++i) {
      const LaneRows lanes = RowsByLane(trace_, out_.launches[i]);
      uint64_t hash = HashOf(trace_, lanes.rows);
      for (const uint32_t begin : lanes.begin) hash = base::MixIn(hash, begin);
      const auto [at, is_new] = first_of_hash.try_emplace(hash, example.size());
      uint32_t sequence = is_new ? kNone : at->second;
      while (sequence != kNone &&
             !SameSequence(lanes, RowsByLane(trace_, out_.launches[example[sequence]]))) {
        sequence = next[sequence];
      }
      if (sequence == kNone) {
        sequence = static_cast<uint32_t>(example.size());
        next.push_back(is_new ? kNone : at->second);
        at.value() = sequence;
        example.push_back(i);
      }
      out_.launches[i].sequence = sequence;
    }
    out_.n_sequences = example.size();
  }

  void GroupLaunches() {
    const auto thread_of = [&](const GraphLaunch& launch) {
      return trace_.calls.thread[launch.call.index()];
    };
    const std::vector<GraphLaunch>& all = out_.launches;
    for (uint32_t begin = 0; begin < all.size();) {
      uint32_t end = begin + 1;
      while (end < all.size() && all[end].step == all[begin].step &&
             thread_of(all[end]) == thread_of(all[begin])) {
        ++end;
      }
      GraphLaunches::Group group{begin, end, all[begin].step, {}, {}};
      if (group.step.valid()) {
        const attribution::StepFields& fields = attribution_.steps[group.step.index()].fields;
        group.batch = fields.requests;
        group.tokens = fields.query_tokens;
      }
      out_.groups.push_back(group);
      begin = end;
    }
  }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  GraphLaunches out_;
};

}  // namespace

LaneRows RowsByLane(const trace::Trace& trace, const GraphLaunch& launch) {
  const auto n_rows = static_cast<uint32_t>(launch.rows.size());
  if (OnOneStream(trace, launch.rows)) return {launch.rows, {0, n_rows}};
  std::vector<uint32_t> rows = launch.rows;
  const std::vector<trace::StreamId>& stream = trace.activities.stream;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return stream[a] < stream[b]; });
  std::vector<Lane> lanes;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || stream[rows[i]] != stream[rows[i - 1]]) lanes.emplace_back();
    lanes.back().rows.push_back(rows[i]);
  }
  for (Lane& lane : lanes) lane.hash = HashOf(trace, lane.rows);
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const Lane& a, const Lane& b) { return a.hash < b.hash; });
  LaneRows sorted;
  for (const Lane& lane : lanes) {
    sorted.begin.push_back(static_cast<uint32_t>(sorted.rows.size()));
    sorted.rows.insert(sorted.rows.end(), lane.rows.begin(), lane.rows.end());
  }
  sorted.begin.push_back(n_rows);
  return sorted;
}

GraphLaunches FindGraphLaunches(const trace::Trace& trace,
                                const attribution::Attribution& attribution) {
  return LaunchFinder(trace, attribution).Find();
}

}  // namespace layerscope::replay
