#include "src/attribution/module_ranges.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "src/attribution/lane_order.h"
#include "src/attribution/module_tree.h"
#include "src/attribution/nested_sweep.h"
#include "src/base/hash.h"

namespace layerscope::attribution {
namespace {

class RangeJoiner {
 public:
  explicit RangeJoiner(const trace::Trace& trace)
      : trace_(trace),
        scopes_(trace.scopes),
        intervals_{scopes_.start_ns, scopes_.dur_ns},
        parent_(scopes_.size(), kNoRow),
        inside_(scopes_.size(), Inside::kNothing) {}

  /// The scopes without the ranges that are calls of the scope around them.
  trace::Scopes Join() {
    FindParents();
    for (uint32_t row = 0; row < scopes_.size(); ++row) {
      if (IsRightInsideClass(row)) Learn(row);
    }
    trace::Scopes joined;
    joined.path.reserve(scopes_.size());
    for (uint32_t row = 0; row < scopes_.size(); ++row) {
      if (!IsRightInsideClass(row) || !JoinedPath(parent_[row]).valid()) Keep(row, joined);
    }
    return joined;
  }

 private:
  /// What a scope holds right inside it.
  enum class Inside : uint8_t { kNothing, kOneRange, kOther };
  struct Instance {
    trace::StringId path;
    bool fits = true;
  };

  void FindParents() {
    const LaneOrder order = LaneOrder::Build(std::span<const trace::ThreadId>(scopes_.thread),
                                             trace_.threads.size(), intervals_);
    const auto open = [this](uint32_t row, uint32_t parent) {
      parent_[row] = parent;
      if (parent == kNoRow) return;
      const bool is_first_range = scopes_.is_path[row] != 0 && inside_[parent] == Inside::kNothing;
      inside_[parent] = is_first_range ? Inside::kOneRange : Inside::kOther;
    };
    std::vector<uint32_t> stack;
    for (size_t lane = 0; lane < order.n_lanes(); ++lane) {
      SweepNested(order.rows(lane), intervals_, stack, open, [](uint32_t, int64_t, int64_t) {});
    }
  }

  /// Of a range: is the innermost scope around it one of a `Class_k`?
  bool IsRightInsideClass(uint32_t row) const {
    const uint32_t around = parent_[row];
    return scopes_.is_path[row] != 0 && around != kNoRow && scopes_.is_path[around] == 0 &&
           SplitInstance(trace_.strings[scopes_.name[around]]).number >= 0;
  }

  /// Tells the instances, and the paths, of a trace apart.
  uint64_t Key(uint32_t row) const {
    const trace::ProcessId process = trace_.threads[scopes_.thread[row].index()].process;
    return uint64_t{process.index()} << 32U | scopes_.name[row].index();
  }

  void Learn(uint32_t range) {
    const uint32_t around = parent_[range];
    Instance& instance = instances_[Key(around)];
    const trace::StringId path = scopes_.name[range];
    const bool is_same = !instance.path.valid() || instance.path == path;
    const bool is_alone = inside_[around] == Inside::kOneRange;
    if (!is_same || !is_alone || intervals_.End(range) > intervals_.End(around)) {
      instance.fits = false;
    }
    instance.path = path;
    const auto [at, is_new] = owner_of_path_.try_emplace(Key(range), Key(around));
    if (!is_new && at->second != Key(around)) at.value() = kSeveral;
  }

  /// Invalid: its scopes and the ranges in them are not said to be one module.
  trace::StringId JoinedPath(uint32_t scope) const {
    const auto found = instances_.find(Key(scope));
    if (found == instances_.end() || !found->second.fits) return {};
    const uint64_t process = Key(scope) >> 32U << 32U;
    const auto owner = owner_of_path_.find(process | found->second.path.index());
    return owner->second == Key(scope) ? found->second.path : trace::StringId();
  }

  void Keep(uint32_t row, trace::Scopes& out) const {
    out.start_ns.push_back(scopes_.start_ns[row]);
    out.dur_ns.push_back(scopes_.dur_ns[row]);
    out.name.push_back(scopes_.name[row]);
    out.thread.push_back(scopes_.thread[row]);
    out.is_path.push_back(scopes_.is_path[row]);
    out.path.push_back(scopes_.is_path[row] != 0 ? trace::StringId() : JoinedPath(row));
  }

  static constexpr uint64_t kSeveral = ~uint64_t{0};

  const trace::Trace& trace_;
  const trace::Scopes& scopes_;
  const Intervals intervals_;
  std::vector<uint32_t> parent_;  // by scope: the innermost one that contains its start, or kNoRow
  std::vector<Inside> inside_;    // by scope
  tsl::robin_map<uint64_t, Instance, base::MixHash> instances_;
  tsl::robin_map<uint64_t, uint64_t, base::MixHash> owner_of_path_;  // the instance, or kSeveral
};

/// Both `Class_k` and paths.
bool HasBothKinds(const trace::Scopes& scopes) {
  const auto n_paths = std::count(scopes.is_path.begin(), scopes.is_path.end(), uint8_t{1});
  return n_paths > 0 && static_cast<size_t>(n_paths) < scopes.size();
}

}  // namespace

void JoinModuleRanges(trace::Trace& trace) {
  // In a database what is no path is a plain range, which says nothing of classes.
  if (trace.format != trace::TraceFormat::kKineto) return;
  if (trace.unjoined_scopes.size() > 0 || !HasBothKinds(trace.scopes)) return;
  trace::Scopes joined = RangeJoiner(trace).Join();
  if (joined.size() == trace.scopes.size()) return;
  trace.unjoined_scopes = std::exchange(trace.scopes, std::move(joined));
}

}  // namespace layerscope::attribution
