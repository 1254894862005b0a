#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "src/analysis/rank_view.h"
#include "src/attribution/evidence.h"
#include "src/base/hash.h"
#include "src/table/column.h"

namespace layerscope::analysis {

/// Nanoseconds by evidence class.
using EvidenceSums = std::array<int64_t, attribution::kEvidenceCount>;
table::CellMap ToCellMap(const EvidenceSums& sums);

/// What activities are grouped by: up to two ids of the caller's choice (kNone = none), and the
/// device and process that tell rows of a multi-device trace apart.
struct GroupKey {
  static constexpr uint32_t kNone = 0xffffffffU;
  uint32_t first = kNone;
  uint32_t second = kNone;
  trace::DeviceId device;
  trace::ProcessId process;
  bool copies = false;  ///< memory copies and sets, where they are kept apart from kernels
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

struct GroupKeyHash {
  size_t operator()(const GroupKey& key) const noexcept {
    const uint64_t ids = (uint64_t{key.first} << 32U) | key.second;
    const uint64_t place = (uint64_t{key.device.index()} << 32U) | key.process.index();
    return base::Mix(base::Mix(ids + (key.copies ? 1U : 0U)) + place);
  }
};

/// The sums of one group. In CPU-only traces `n` counts ops and min and max are over the ops' self
/// times in the group.
struct Group {
  GroupKey key;
  uint32_t first_row = 0;
  int64_t n = 0;
  int64_t n_kernels = 0;
  int64_t sum_ns = 0;
  int64_t kernel_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  EvidenceSums evidence_ns{};
};

/// Collects rows into groups, in the order in which groups first appear.
class Grouper {
 public:
  explicit Grouper(const RankView& view) : view_(view) {}
  void Add(const GroupKey& key, uint32_t row);
  /// LS_CHECKs that the groups add up to the selection's total, and hands them over.
  std::vector<Group> Take();

 private:
  void AddLengthsOfOps(uint32_t group, uint32_t row);

  const RankView& view_;
  std::vector<Group> groups_;
  tsl::robin_map<GroupKey, uint32_t, GroupKeyHash> index_;
  tsl::robin_map<uint64_t, int64_t, base::MixHash> op_self_ns_;  ///< CPU-only: by group and op
};

/// Groups the selected rows by `key_of(row)`: the one roll-up that every table of sums uses.
template <typename KeyOf>
std::vector<Group> GroupBy(const RankView& view, KeyOf key_of) {
  Grouper grouper(view);
  for (const uint32_t row : view.rows()) grouper.Add(key_of(row), row);
  return grouper.Take();
}

/// The device and process of a row where the trace has several, else none.
GroupKey PlaceOf(const RankView& view, uint32_t row);

}  // namespace layerscope::analysis
