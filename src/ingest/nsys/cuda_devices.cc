#include "src/ingest/nsys/cuda_devices.h"

#include <array>

#include "src/ingest/nsys/row_loop.h"

namespace layerscope::ingest::nsys {
namespace {

constexpr std::array<Column, 4> kColumns = {{{"gpuId"}, {"cudaId", true}, {"pid", true}, {"uuid"}}};

/// A cell that no export writes says nothing of which GPU is meant: names of devices are a few
/// bytes long.
constexpr size_t kMaxUuidBytes = 128;

}  // namespace

std::set<int64_t> PidsOf(const trace::Trace& trace) {
  std::set<int64_t> pids;
  for (const trace::Process& process : trace.processes) pids.insert(process.pid.number);
  return pids;
}

Step CudaDevices::Read(const Database& database, const Schema& schema,
                       const std::set<int64_t>& pids, trace::Ledger& ledger) {
  enum : int { kGpu, kDevice, kPid, kUuid };
  const Step end = ForEachRow(database, schema, kCudaDevices, kColumns, ledger, [&](Row& row) {
    const int64_t device = row.Needed(kDevice);
    const int64_t pid = row.Needed(kPid);
    Gpu gpu;
    if (!row.IsNull(kGpu)) {
      gpu.id = row.Needed(kGpu);
    } else if (row.IsText(kUuid)) {
      gpu.uuid = row.Text(kUuid).value_or("");
    }
    const bool is_known = gpu.id || (!gpu.uuid.empty() && gpu.uuid.size() <= kMaxUuidBytes);
    if (row.bad() || !is_known) return;
    first_of_.emplace(device, gpu);
    if (pids.contains(pid)) gpu_of_.emplace(std::pair(pid, device), std::move(gpu));
  });
  Compare();
  return end;
}

void CudaDevices::Compare() {
  std::map<Gpu, int64_t> device_of;
  std::map<int64_t, Gpu> by_device;
  for (const auto& [key, gpu] : gpu_of_) {
    const int64_t device = key.second;
    numbers_differ_ |= by_device.emplace(device, gpu).first->second != gpu;
    numbers_differ_ |= device_of.emplace(gpu, device).first->second != device;
  }
}

const Gpu* CudaDevices::Find(int64_t pid, int64_t device) const {
  const auto found = gpu_of_.find({pid, device});
  return found == gpu_of_.end() ? nullptr : &found->second;
}

const Gpu* CudaDevices::FindFirst(int64_t device) const {
  const auto found = first_of_.find(device);
  return found == first_of_.end() ? nullptr : &found->second;
}

}  // namespace layerscope::ingest::nsys
