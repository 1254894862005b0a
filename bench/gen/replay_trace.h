#pragma once
// The events of one trace of a serving run, and their text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/replay_options.h"

namespace layerscope::gen {

struct TraceEvent {
  std::string_view category;
  std::string name;
  bool on_gpu = false;
  int64_t tid = 0;  // thread or stream
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  std::string args;  // rendered members
};

// Renders members of `args` one after the other.
class ArgsText {
 public:
  ArgsText& Int(std::string_view key, int64_t value);
  ArgsText& String(std::string_view key, std::string_view value);
  ArgsText& Raw(std::string_view key, std::string_view json);
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

struct TraceHeader {
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t process_id = 0;
  bool amd = true;
};

// False when the file cannot be written.
bool WriteTraceFile(const std::string& path, const TraceHeader& header,
                    const std::vector<TraceEvent>& events);
bool WriteTextFile(const std::string& path, const std::string& text);

}  // namespace layerscope::gen
