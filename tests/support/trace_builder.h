#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "src/trace/trace.h"

namespace layerscope::tests {

/// Builds a trace in memory, row by row, in file order. Times are nanoseconds. Kernels, copies and
/// sets stand on one stream of one device, under the process given by GpuProcess (pid 0 at first).
class TraceBuilder {
 public:
  TraceBuilder();

  /// The thread `tid` of process `pid`; the same arguments give the same thread.
  trace::ThreadId Thread(int64_t pid, int64_t tid);
  trace::ThreadId Thread(std::string_view pid, int64_t tid);
  /// The process that following activities are written under.
  void GpuProcess(int64_t pid);
  void GpuProcess(std::string_view pid);

  trace::ActivityId Kernel(std::string_view name, int64_t start_ns, int64_t dur_ns,
                           int64_t correlation, int64_t external_id = trace::kNoExternalId);
  trace::ActivityId Activity(trace::ActivityKind kind, std::string_view name, int64_t start_ns,
                             int64_t dur_ns, int64_t correlation,
                             int64_t external_id = trace::kNoExternalId);
  trace::CallId Call(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                     int64_t correlation, int64_t external_id = trace::kNoExternalId);
  trace::OpId Op(trace::ThreadId thread, std::string_view name, int64_t start_ns, int64_t dur_ns,
                 int64_t external_id = trace::kNoExternalId);
  trace::ScopeId Scope(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                       int64_t dur_ns);
  trace::AnnotationId Annotation(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                                 int64_t dur_ns);
  /// The GPU's view of an annotation.
  trace::AnnotationId GpuAnnotation(std::string_view name, int64_t start_ns, int64_t dur_ns);

  trace::Trace Build() && { return std::move(trace_); }
  const trace::Trace& trace() const { return trace_; }

 private:
  trace::ProcessId Process(trace::Label pid);
  trace::ThreadId ThreadOf(trace::ProcessId process, int64_t tid);
  trace::Label TextLabel(std::string_view text);

  trace::Trace trace_;
  trace::ProcessId gpu_process_;
};

}  // namespace layerscope::tests
