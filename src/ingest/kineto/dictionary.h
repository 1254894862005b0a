#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/args_hash.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::kineto {

/// Everything that rows refer to by id, interned. Each parser has one of its own (no lock on the
/// hot path); the merger maps its ids to the trace's.
class Dictionary {
 public:
  trace::StringId String(std::string_view text) { return strings_.Intern(text); }
  trace::ProcessId Process(const trace::Label& pid);
  trace::ThreadId Thread(trace::ProcessId process, const trace::Label& tid);
  trace::StreamId Stream(const trace::Label& device, const trace::Label& stream);
  trace::ArgsId Args(const trace::Args& args);

  /// How much of it exists: a batch records the size before and after itself.
  struct Extent {
    size_t strings = 0, processes = 0, threads = 0, devices = 0, streams = 0, args = 0;
  };
  Extent extent() const;

  const trace::StringPool& strings() const { return strings_; }
  const std::vector<trace::Process>& processes() const { return processes_; }
  const std::vector<trace::Thread>& threads() const { return threads_; }
  const std::vector<trace::Device>& devices() const { return devices_; }
  const std::vector<trace::Stream>& streams() const { return streams_; }
  const std::vector<trace::Args>& args() const { return args_; }

  void NameProcess(trace::ProcessId id, trace::StringId name) {
    processes_[id.index()].name = name;
  }
  void NameThread(trace::ThreadId id, trace::StringId name) { threads_[id.index()].name = name; }
  /// Hands the contents over as a trace's; the dictionary is empty afterwards.
  void MoveInto(trace::Trace& trace);

 private:
  struct PairHash {
    size_t operator()(const std::pair<uint64_t, uint64_t>& pair) const noexcept;
  };
  template <typename V>
  using PairMap = tsl::robin_map<std::pair<uint64_t, uint64_t>, V, PairHash>;

  trace::DeviceId Device(const trace::Label& device);

  trace::StringPool strings_;
  std::vector<trace::Process> processes_;
  std::vector<trace::Thread> threads_;
  std::vector<trace::Device> devices_;
  std::vector<trace::Stream> streams_;
  std::vector<trace::Args> args_;
  PairMap<trace::ProcessId> process_ids_;
  PairMap<trace::DeviceId> device_ids_;
  // A thread or stream: (owner index << 1 | label is text, label value).
  PairMap<trace::ThreadId> thread_ids_;
  PairMap<trace::StreamId> stream_ids_;
  tsl::robin_map<trace::Args, trace::ArgsId, trace::ArgsHash> args_ids_;
};

}  // namespace layerscope::ingest::kineto
