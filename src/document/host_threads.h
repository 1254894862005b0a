#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "src/trace/trace.h"

namespace layerscope::document {

/// The label that a `pid` or `tid` token stands for, as Trace::LabelText gives it.
std::string LabelOfToken(std::string_view token);

/// Finds the thread that the `pid` and `tid` tokens of an event's text name.
class HostThreads {
 public:
  explicit HostThreads(const trace::Trace& trace);
  /// Invalid when no row and no name of the trace stands on it.
  trace::ThreadId Find(std::string_view pid_token, std::string_view tid_token);

 private:
  std::unordered_map<std::string, trace::ThreadId> threads_;  ///< by the texts of both
  std::string last_pid_, last_tid_;
  trace::ThreadId last_;
};

}  // namespace layerscope::document
