#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// One stream of a device: the activities that the selection has on it.
struct StreamRow {
  LabelValue stream;
  LabelValue pid;  ///< of its first activity's process; nothing: unknown
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t busy_ns = 0;
};

/// One device: sum, busy (union over its streams) and wall are three different numbers.
struct DeviceRow {
  LabelValue device;
  std::string name;  ///< from deviceProperties; empty when the file does not say
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t busy_ns = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  std::vector<StreamRow> streams;
  std::vector<LabelValue> pids;  ///< of the processes that used it
  int64_t wall_ns() const { return last_ns - first_ns; }
};

/// The devices of the selected activities, by number; in a CPU-only trace one row "cpu" without
/// streams.
std::vector<DeviceRow> BuildDeviceRows(const RankView& view);

/// "2 processes (pid 4242, 4279) name device 0 …": what busy and idle of such a device are of, and
/// that the file may mean two GPUs by one number. Empty for a device of one process.
std::string SharedDeviceText(const RankView& view, const DeviceRow& device);

/// "NVIDIA H100 80GB HBM3": the distinct device names of the file, joined; empty when unknown.
std::string DeviceNames(const trace::Trace& trace);

}  // namespace layerscope::analysis
