#include "src/analysis/group_by.h"

#include <string>

#include "src/base/check.h"

namespace layerscope::analysis {

table::CellMap ToCellMap(const EvidenceSums& sums) {
  table::CellMap map;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    map.emplace_back(attribution::ToString(static_cast<attribution::Evidence>(i)), sums[i]);
  }
  return map;
}

GroupKey PlaceOf(const RankView& view, uint32_t row) {
  GroupKey key;
  if (view.many_devices()) key.device = view.DeviceOf(row);
  if (view.processes().many()) key.process = view.attribution().host_process[row];
  return key;
}

void Grouper::Add(const GroupKey& key, uint32_t row) {
  const auto [slot, is_new] = index_.try_emplace(key, static_cast<uint32_t>(groups_.size()));
  const int64_t dur_ns = view_.activities().dur_ns[row];
  if (is_new) {
    Group group;
    group.key = key;
    group.first_row = row;
    group.min_ns = group.max_ns = dur_ns;
    groups_.push_back(group);
  }
  Group& group = groups_[slot->second];
  group.n += view_.CountOf(row);
  group.sum_ns += dur_ns;
  group.min_ns = std::min(group.min_ns, dur_ns);
  group.max_ns = std::max(group.max_ns, dur_ns);
  const attribution::Evidence evidence = view_.attribution().module_evidence[row];
  group.evidence_ns[static_cast<size_t>(evidence)] += dur_ns;
  if (view_.IsKernel(row)) {
    ++group.n_kernels;
    group.kernel_ns += dur_ns;
  }
  if (view_.cpu_only()) AddLengthsOfOps(slot->second, row);
}

void Grouper::AddLengthsOfOps(uint32_t group, uint32_t row) {
  const trace::OpId op = view_.attribution().op[row];
  const uint64_t key = (uint64_t{group} << 32U) | static_cast<uint32_t>(op.index());
  op_self_ns_[key] += view_.activities().dur_ns[row];
}

std::vector<Group> Grouper::Take() {
  if (view_.cpu_only()) {
    std::vector<uint8_t> seen(groups_.size(), 0);
    for (const auto& [key, self_ns] : op_self_ns_) {
      Group& group = groups_[key >> 32U];
      const bool first = seen[key >> 32U] == 0;
      seen[key >> 32U] = 1;
      group.min_ns = first ? self_ns : std::min(group.min_ns, self_ns);
      group.max_ns = first ? self_ns : std::max(group.max_ns, self_ns);
    }
  }
  int64_t total_ns = 0;
  for (const Group& group : groups_) total_ns += group.sum_ns;
  LS_CHECK(total_ns == view_.total_ns(), "groups do not add up to the total of the selection");
  return std::move(groups_);
}

}  // namespace layerscope::analysis
