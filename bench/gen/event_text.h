#pragma once
// Writes events as the JSON text of a trace, and counts what it wrote.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/gen/event.h"
#include "bench/gen/json_text.h"
#include "bench/gen/options.h"
#include "bench/gen/random.h"

namespace layerscope::gen {

inline constexpr int64_t kProcessId = 6583;
inline constexpr int64_t kProcessStride = 1000;  // between the processes of one document

struct WrittenCounts {
  int64_t events = 0;
  std::map<std::string, int64_t, std::less<>> by_ph;
  std::map<std::string, int64_t, std::less<>> by_cat;  // "ph|cat"
  uint64_t sum_ts_ns = 0;                              // modulo 2^64
  uint64_t sum_dur_ns = 0;
  uint64_t sum_correlation = 0;
};

class EventText {
 public:
  // `depth`: how deep an event's members stand in the document. `device` is the GPU's index.
  EventText(const Options& options, int depth, int64_t device, std::string* out);

  // Each appends one event, or an event and its flow, separators included.
  void Write(const Event& event);
  void WriteMetadata(std::string_view name, int64_t ts_ns, std::string_view pid, int64_t tid,
                     std::string_view key, std::string_view value_json);
  void WriteSpan(std::string_view name, int64_t start_ns, int64_t duration_ns);
  void WriteMark(std::string_view name, std::string_view pid, std::string_view tid, int64_t ts_ns);

  const WrittenCounts& counts() const { return counts_; }

 private:
  enum Field : uint8_t { kPh, kCat, kName, kScope, kId, kPid, kTid, kTs, kDur, kBp, kArgs };
  static constexpr size_t kFields = 11;
  struct Parts {
    std::string_view ph, cat, name, scope, bp;
    std::string_view pid_json, tid_json;
    int64_t id = -1;
    int64_t ts_ns = 0;
    int64_t duration_ns = -1;
    bool has_args = false;
  };

  void WriteParts(const Parts& parts);
  void WriteField(JsonText& json, Field field, const Parts& parts);
  void WriteFlow(const Event& event, std::string_view ph, bool on_gpu);
  void WriteGpuEvent(const Event& event, Parts parts);
  void WriteCpuEvent(const Event& event, Parts parts);
  void AppendTime(int64_t ns);
  void CallArgs(JsonText& json, const Event& event);
  void ActivityArgs(JsonText& json, const Event& event);
  void CpuArgs(JsonText& json, const Event& event);
  std::string_view Category(const Event& event) const;
  std::string_view StreamId(int64_t stream);
  // Texts of the event's process and GPU.
  std::string_view ProcessId(const Event& event);
  std::string_view DeviceId(const Event& event);

  const Options& o_;
  int depth_;
  int64_t device_;
  std::string& out_;
  std::string pid_, device_text_, other_pid_, other_device_, tid_text_, args_;
  std::array<Field, kFields> order_;
  Random random_;
  WrittenCounts counts_;
  bool first_ = true;
};

}  // namespace layerscope::gen
