#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// A GPU of the machine: its number in the export, else what names it.
struct Gpu {
  std::optional<int64_t> id;
  std::string uuid;  ///< empty where `id` is there
  friend auto operator<=>(const Gpu&, const Gpu&) = default;
};

/// The pids of a trace's processes.
std::set<int64_t> PidsOf(const trace::Trace& trace);

/// Which GPU each process means by its device numbers (TARGET_INFO_CUDA_DEVICE, since 2025). Where
/// CUDA_VISIBLE_DEVICES differs, one number is several GPUs, or one GPU has several numbers.
class CudaDevices {
 public:
  /// Only processes in `pids` are found and compared. Returns kDone, kStopped, kUnreadable or
  /// kOutOfMemory.
  Step Read(const Database& database, const Schema& schema, const std::set<int64_t>& pids,
            trace::Ledger& ledger);

  /// True where the processes' numbers are not those of one counting: only then does a device need
  /// the GPU's number.
  bool numbers_differ() const { return numbers_differ_; }
  /// Null where the table does not say.
  const Gpu* Find(int64_t pid, int64_t device) const;
  /// The same for the first process of the table that has the device, of `pids` or not.
  const Gpu* FindFirst(int64_t device) const;

 private:
  void Compare();

  std::map<std::pair<int64_t, int64_t>, Gpu> gpu_of_;  ///< by (pid, device)
  std::map<int64_t, Gpu> first_of_;                    ///< by device
  bool numbers_differ_ = false;
};

}  // namespace layerscope::ingest::nsys
