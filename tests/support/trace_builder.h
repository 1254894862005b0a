#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "src/trace/trace.h"

namespace layerscope::tests {

/// Builds a trace in memory, row by row, in file order. Times are nanoseconds. Kernels, copies and
/// sets stand on the stream given by GpuStream (device 0, stream 7 at first), under the process
/// given by GpuProcess (pid 0 at first).
class TraceBuilder {
 public:
  TraceBuilder();

  /// The trace is of Nsight Systems: activities are written under their host process.
  void Nsys() { trace_.format = trace::TraceFormat::kNsys; }

  /// The thread `tid` of process `pid`; the same arguments give the same thread.
  trace::ThreadId Thread(int64_t pid, int64_t tid);
  trace::ThreadId Thread(std::string_view pid, int64_t tid);
  /// The process that following activities are written under.
  void GpuProcess(int64_t pid);
  void GpuProcess(std::string_view pid);
  /// The stream that following activities stand on.
  void GpuStream(int64_t device, int64_t stream);

  trace::ActivityId Kernel(std::string_view name, int64_t start_ns, int64_t dur_ns,
                           int64_t correlation, int64_t external_id = trace::kNoExternalId);
  trace::ActivityId Activity(trace::ActivityKind kind, std::string_view name, int64_t start_ns,
                             int64_t dur_ns, int64_t correlation,
                             int64_t external_id = trace::kNoExternalId);
  trace::CallId Call(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                     int64_t correlation, int64_t external_id = trace::kNoExternalId);
  /// A launch call that names its kernel, as ROCm's do.
  trace::CallId LaunchOf(trace::ThreadId thread, std::string_view name, std::string_view kernel,
                         int64_t start_ns, int64_t correlation);
  trace::OpId Op(trace::ThreadId thread, std::string_view name, int64_t start_ns, int64_t dur_ns,
                 int64_t external_id = trace::kNoExternalId);
  trace::ScopeId Scope(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                       int64_t dur_ns);
  /// An annotation that names a module by its path.
  trace::ScopeId PathScope(trace::ThreadId thread, std::string_view path, int64_t start_ns,
                           int64_t dur_ns);
  /// The `graph node id` of an activity.
  void GraphNode(trace::ActivityId activity, int64_t node);
  /// A row of the table of graph nodes: `node` was made on a thread, by a capture or, with
  /// `original`, as a clone of that node.
  void NodeRow(trace::ThreadId thread, int64_t start_ns, int64_t node,
               int64_t original = trace::kNoGraphNode);
  /// A range of NVTX's default domain: an annotation that may stand for a module.
  trace::AnnotationId PlainRange(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                                 int64_t dur_ns);
  trace::AnnotationId Annotation(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                                 int64_t dur_ns);
  /// The GPU's view of an annotation.
  trace::AnnotationId GpuAnnotation(std::string_view name, int64_t start_ns, int64_t dur_ns);

  trace::Trace Build() && { return std::move(trace_); }
  trace::Trace& trace() { return trace_; }
  const trace::Trace& trace() const { return trace_; }

 private:
  trace::ProcessId Process(trace::Label pid);
  trace::ThreadId ThreadOf(trace::ProcessId process, int64_t tid);
  trace::Label TextLabel(std::string_view text);

  trace::Trace trace_;
  trace::ProcessId gpu_process_;
  trace::StreamId gpu_stream_ = trace::StreamId(0);
};

}  // namespace layerscope::tests
