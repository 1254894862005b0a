#include "src/ingest/nsys/dictionary_tables.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>

namespace layerscope::ingest::nsys {
namespace {

/// `[132,1,1]`, as the PyTorch profiler writes it; invalid where an extent was not recorded.
trace::StringId ExtentsText(const std::array<int64_t, 3>& extents, RowDictionary& dictionary) {
  for (const int64_t extent : extents) {
    if (extent == ArgsKey::kAbsent) return {};
  }
  return dictionary.Text(fmt::format("[{},{},{}]", extents[0], extents[1], extents[2]));
}

Gpu GpuOf(const StreamKey& key, const RowDictionary& dictionary, const CudaDevices& cuda) {
  if (cuda.numbers_differ() && key.process.valid()) {
    const int64_t pid = PidOf(dictionary.processes()[key.process.index()]);
    if (const Gpu* gpu = cuda.Find(pid, key.device)) return *gpu;
  }
  return {key.device, {}};
}

}  // namespace

void AddHosts(RowDictionary& dictionary, trace::Trace& trace) {
  for (const int64_t global_tid : dictionary.threads()) {
    trace.threads.push_back({dictionary.Process(global_tid), {TidOf(global_tid), {}}, {}});
  }
  for (const int64_t global_pid : dictionary.processes()) {
    trace.processes.push_back({{PidOf(global_pid), {}}, {}});
  }
}

void AddStreams(RowDictionary& dictionary, const CudaDevices& cuda, trace::Trace& trace) {
  std::map<Gpu, trace::DeviceId> devices;
  for (const StreamKey& key : dictionary.streams()) {
    const Gpu gpu = GpuOf(key, dictionary, cuda);
    const auto [device, is_new] = devices.try_emplace(gpu, trace::DeviceId(trace.devices.size()));
    if (is_new) {
      const bool has_number = gpu.id.has_value();
      trace.devices.push_back(
          {{gpu.id.value_or(0), has_number ? trace::StringId() : dictionary.Text(gpu.uuid)}});
    }
    trace.streams.push_back({device->second, {key.stream, {}}});
  }
}

void AddArgs(RowDictionary& dictionary, trace::Trace& trace) {
  for (const ArgsKey& key : dictionary.args()) {
    trace::Args args;
    args.input_dims = key.sizes;
    args.grid = ExtentsText(key.grid, dictionary);
    args.block = ExtentsText(key.block, dictionary);
    trace.args.push_back(args);
  }
}

}  // namespace layerscope::ingest::nsys
