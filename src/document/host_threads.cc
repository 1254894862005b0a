#include "src/document/host_threads.h"

#include <optional>

#include "src/ingest/kineto/token.h"

namespace layerscope::document {
namespace {

/// Parts the two labels; a label that holds it finds nothing or itself.
constexpr char kBetween = '\x1f';

}  // namespace

std::string LabelOfToken(std::string_view token) {
  if (const std::optional<int64_t> number = ingest::kineto::ParseInteger(token)) {
    return std::to_string(*number);
  }
  std::string text;
  ingest::kineto::Unescape(ingest::kineto::Unquoted(token), text);
  return text;
}

HostThreads::HostThreads(const trace::Trace& trace) {
  for (size_t i = 0; i < trace.threads.size(); ++i) {
    const trace::Thread& thread = trace.threads[i];
    threads_.emplace(trace.LabelText(trace.processes[thread.process.index()].pid) + kBetween +
                         trace.LabelText(thread.tid),
                     trace::ThreadId(i));
  }
}

trace::ThreadId HostThreads::Find(std::string_view pid_token, std::string_view tid_token) {
  if (pid_token == last_pid_ && tid_token == last_tid_) return last_;
  last_pid_ = pid_token;
  last_tid_ = tid_token;
  const auto found = threads_.find(LabelOfToken(pid_token) + kBetween + LabelOfToken(tid_token));
  last_ = found == threads_.end() ? trace::ThreadId() : found->second;
  return last_;
}

}  // namespace layerscope::document
