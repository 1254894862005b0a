#include "src/document/process_choice.h"

#include "src/document/host_threads.h"

namespace layerscope::document {

using ingest::kineto::RawEvent;
using ingest::kineto::RowKind;

namespace {

/// The GPU's view of annotations stands on the thread that is called as the stream is.
std::string StreamKey(const trace::Trace& trace, trace::ProcessId process,
                      const trace::Label& stream) {
  return std::to_string(process.index()) + ' ' + trace.LabelText(stream);
}

}  // namespace

ProcessChoice::ProcessChoice(const analysis::RankView& view)
    : view_(view),
      activity_(view.trace().activities.size(), 0),
      left_out_(view.trace().processes.size(), 0) {
  const trace::Trace& trace = view.trace();
  const trace::Activities& activities = trace.activities;
  if (!view.cpu_only()) {
    for (const uint32_t row : view.rows()) activity_[row] = 1;
  }
  for (const trace::ProcessId host : view.processes().hosts) {
    left_out_[host.index()] = view.SelectsHost(host) ? 0 : 1;
  }
  std::vector<uint8_t> runs_chosen(trace.processes.size(), 0);
  std::vector<uint8_t> runs_other(trace.processes.size(), 0);
  for (size_t row = 0; row < activities.size(); ++row) {
    const trace::ProcessId process = activities.process[row];
    (activity_[row] != 0 ? runs_chosen : runs_other)[process.index()] = 1;
    const trace::Label& stream = trace.streams[activities.stream[row].index()].id;
    streams_[StreamKey(trace, process, stream)] |= activity_[row];
  }
  for (size_t i = 0; i < left_out_.size(); ++i) {
    if (runs_chosen[i] != 0) left_out_[i] = 0;
    if (runs_chosen[i] == 0 && runs_other[i] != 0) left_out_[i] = 1;
    process_of_label_.emplace(trace.LabelText(trace.processes[i].pid), trace::ProcessId(i));
  }
}

bool ProcessChoice::KeepsAnnotation(size_t row) const {
  const trace::Trace& trace = view_.trace();
  const trace::Thread& thread = trace.threads[trace.annotations.thread[row].index()];
  if (trace.annotations.is_gpu[row] == 0) return KeepsProcess(thread.process);
  const auto stream = streams_.find(StreamKey(trace, thread.process, thread.tid));
  return stream == streams_.end() ? KeepsProcess(thread.process) : stream->second != 0;
}

bool ProcessChoice::KeepsPid(std::string_view pid_token) {
  if (pid_token == last_pid_) return keeps_last_;
  last_pid_ = pid_token;
  const auto found = process_of_label_.find(LabelOfToken(pid_token));
  keeps_last_ = found == process_of_label_.end() || KeepsProcess(found->second);
  return keeps_last_;
}

bool ProcessChoice::Keeps(const RawEvent& event) {
  const trace::Trace& trace = view_.trace();
  const auto host = [&](const std::vector<trace::ThreadId>& thread) {
    return KeepsProcess(trace.threads[thread[event.row].index()].process);
  };
  switch (event.kind) {
    case RowKind::kActivity:
      return activity_[event.row] != 0;
    case RowKind::kCall:
      return host(trace.calls.thread);
    case RowKind::kOp:
      return host(trace.ops.thread);
    case RowKind::kScope:
      return host(trace.RecordedScopes().thread);
    case RowKind::kAnnotation:
      return KeepsAnnotation(event.row);
    case RowKind::kNone:
      break;
  }
  return KeepsPid(event.fields.pid);
}

}  // namespace layerscope::document
