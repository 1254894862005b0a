#include "src/ingest/kineto/dictionary.h"

#include <utility>

#include "src/base/hash.h"

namespace layerscope::ingest::kineto {
namespace {

using trace::Label;

using base::Mix;

/// A label with the index of its owner (process or device) as a map key.
std::pair<uint64_t, uint64_t> Key(size_t owner, const Label& label) {
  const uint64_t tag = (static_cast<uint64_t>(owner) << 1) | (label.text.valid() ? 1U : 0U);
  const uint64_t value = label.text.valid() ? static_cast<uint64_t>(label.text.index())
                                            : static_cast<uint64_t>(label.number);
  return {tag, value};
}

/// Finds `key` or appends `make()` to `rows`.
template <typename Map, typename Row>
auto FindOrAdd(Map& ids, const typename Map::key_type& key, std::vector<Row>& rows, Row row) {
  const auto found = ids.find(key);
  if (found != ids.end()) return found->second;
  const typename Map::mapped_type id(rows.size());
  rows.push_back(std::move(row));
  ids.emplace(key, id);
  return id;
}

}  // namespace

size_t Dictionary::PairHash::operator()(const std::pair<uint64_t, uint64_t>& pair) const noexcept {
  return Mix(pair.first * 0x9e3779b97f4a7c15ULL + pair.second);
}

trace::ProcessId Dictionary::Process(const Label& pid) {
  return FindOrAdd(process_ids_, Key(0, pid), processes_, trace::Process{pid, {}});
}

trace::ThreadId Dictionary::Thread(trace::ProcessId process, const Label& tid) {
  return FindOrAdd(thread_ids_, Key(process.index(), tid), threads_,
                   trace::Thread{process, tid, {}});
}

trace::DeviceId Dictionary::Device(const Label& device) {
  return FindOrAdd(device_ids_, Key(0, device), devices_, trace::Device{device});
}

trace::StreamId Dictionary::Stream(const Label& device, const Label& stream) {
  const trace::DeviceId owner = Device(device);
  return FindOrAdd(stream_ids_, Key(owner.index(), stream), streams_, trace::Stream{owner, stream});
}

trace::ArgsId Dictionary::Args(const trace::Args& args) {
  return FindOrAdd(args_ids_, args, args_, args);
}

Dictionary::Extent Dictionary::extent() const {
  return {strings_.size(), processes_.size(), threads_.size(),
          devices_.size(), streams_.size(),   args_.size()};
}

void Dictionary::MoveInto(trace::Trace& trace) {
  trace.strings = std::move(strings_);
  trace.processes = std::move(processes_);
  trace.threads = std::move(threads_);
  trace.devices = std::move(devices_);
  trace.streams = std::move(streams_);
  trace.args = std::move(args_);
  *this = Dictionary();
}

}  // namespace layerscope::ingest::kineto
