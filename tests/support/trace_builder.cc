#include "tests/support/trace_builder.h"

namespace layerscope::tests {

using trace::ActivityKind;

TraceBuilder::TraceBuilder() {
  trace_.devices.push_back({trace::Label{0, {}}});
  trace_.streams.push_back({trace::DeviceId(0), trace::Label{7, {}}});
  gpu_process_ = Process(trace::Label{0, {}});
}

trace::Label TraceBuilder::TextLabel(std::string_view text) {
  return {0, trace_.strings.Intern(text)};
}

trace::ProcessId TraceBuilder::Process(trace::Label pid) {
  for (size_t i = 0; i < trace_.processes.size(); ++i) {
    if (trace_.processes[i].pid == pid) return trace::ProcessId(i);
  }
  trace_.processes.push_back({pid, {}});
  return trace::ProcessId(trace_.processes.size() - 1);
}

trace::ThreadId TraceBuilder::ThreadOf(trace::ProcessId process, int64_t tid) {
  for (size_t i = 0; i < trace_.threads.size(); ++i) {
    const trace::Thread& thread = trace_.threads[i];
    if (thread.process == process && thread.tid.number == tid) return trace::ThreadId(i);
  }
  trace_.threads.push_back({process, trace::Label{tid, {}}, {}});
  return trace::ThreadId(trace_.threads.size() - 1);
}

trace::ThreadId TraceBuilder::Thread(int64_t pid, int64_t tid) {
  return ThreadOf(Process(trace::Label{pid, {}}), tid);
}

trace::ThreadId TraceBuilder::Thread(std::string_view pid, int64_t tid) {
  return ThreadOf(Process(TextLabel(pid)), tid);
}

void TraceBuilder::GpuProcess(int64_t pid) {
  gpu_process_ = Process(trace::Label{pid, {}});
}

void TraceBuilder::GpuProcess(std::string_view pid) {
  gpu_process_ = Process(TextLabel(pid));
}

void TraceBuilder::GpuStream(int64_t device, int64_t stream) {
  size_t d = 0;
  while (d < trace_.devices.size() && trace_.devices[d].id.number != device) ++d;
  if (d == trace_.devices.size()) trace_.devices.push_back({trace::Label{device, {}}});
  size_t s = 0;
  const auto is_it = [&](const trace::Stream& entry) {
    return entry.device.index() == d && entry.id.number == stream;
  };
  while (s < trace_.streams.size() && !is_it(trace_.streams[s])) ++s;
  if (s == trace_.streams.size()) {
    trace_.streams.push_back({trace::DeviceId(d), trace::Label{stream, {}}});
  }
  gpu_stream_ = trace::StreamId(s);
}

trace::ActivityId TraceBuilder::Kernel(std::string_view name, int64_t start_ns, int64_t dur_ns,
                                       int64_t correlation, int64_t external_id) {
  return Activity(ActivityKind::kKernel, name, start_ns, dur_ns, correlation, external_id);
}

trace::ActivityId TraceBuilder::Activity(ActivityKind kind, std::string_view name, int64_t start_ns,
                                         int64_t dur_ns, int64_t correlation, int64_t external_id) {
  trace::Activities& rows = trace_.activities;
  rows.start_ns.push_back(start_ns);
  rows.dur_ns.push_back(dur_ns);
  rows.name.push_back(trace_.strings.Intern(name));
  rows.kind.push_back(kind);
  rows.process.push_back(gpu_process_);
  rows.stream.push_back(gpu_stream_);
  rows.correlation.push_back(correlation);
  rows.external_id.push_back(external_id);
  rows.args.emplace_back();
  return trace::ActivityId(rows.size() - 1);
}

trace::CallId TraceBuilder::Call(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                                 int64_t correlation, int64_t external_id) {
  trace::Calls& rows = trace_.calls;
  rows.start_ns.push_back(start_ns);
  rows.dur_ns.push_back(1);
  rows.name.push_back(trace_.strings.Intern(name));
  rows.thread.push_back(thread);
  rows.correlation.push_back(correlation);
  rows.external_id.push_back(external_id);
  return trace::CallId(rows.size() - 1);
}

trace::CallId TraceBuilder::LaunchOf(trace::ThreadId thread, std::string_view name,
                                     std::string_view kernel, int64_t start_ns,
                                     int64_t correlation) {
  const trace::CallId id = Call(thread, name, start_ns, correlation);
  trace_.calls.kernel.resize(id.index());
  trace_.calls.kernel.push_back(trace_.strings.Intern(kernel));
  return id;
}

trace::OpId TraceBuilder::Op(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                             int64_t dur_ns, int64_t external_id) {
  trace::Ops& rows = trace_.ops;
  rows.start_ns.push_back(start_ns);
  rows.dur_ns.push_back(dur_ns);
  rows.name.push_back(trace_.strings.Intern(name));
  rows.thread.push_back(thread);
  rows.external_id.push_back(external_id);
  rows.args.emplace_back();
  return trace::OpId(rows.size() - 1);
}

trace::ScopeId TraceBuilder::Scope(trace::ThreadId thread, std::string_view name, int64_t start_ns,
                                   int64_t dur_ns) {
  trace::Scopes& rows = trace_.scopes;
  rows.start_ns.push_back(start_ns);
  rows.dur_ns.push_back(dur_ns);
  rows.name.push_back(trace_.strings.Intern(name));
  rows.thread.push_back(thread);
  rows.is_path.push_back(0);
  return trace::ScopeId(rows.size() - 1);
}

trace::ScopeId TraceBuilder::PathScope(trace::ThreadId thread, std::string_view path,
                                       int64_t start_ns, int64_t dur_ns) {
  const trace::ScopeId id = Scope(thread, path, start_ns, dur_ns);
  trace_.scopes.is_path[id.index()] = 1;
  return id;
}

void TraceBuilder::GraphNode(trace::ActivityId activity, int64_t node) {
  std::vector<int64_t>& nodes = trace_.activities.graph_node;
  if (nodes.size() <= activity.index()) nodes.resize(activity.index() + 1, trace::kNoGraphNode);
  nodes[activity.index()] = node;
}

void TraceBuilder::NodeRow(trace::ThreadId thread, int64_t start_ns, int64_t node,
                           int64_t original) {
  trace::GraphNodes& rows = trace_.graph_nodes;
  rows.process.push_back(trace_.threads[thread.index()].process);
  rows.node.push_back(node);
  rows.original.push_back(original);
  rows.thread.push_back(thread);
  rows.start_ns.push_back(start_ns);
}

trace::AnnotationId TraceBuilder::PlainRange(trace::ThreadId thread, std::string_view name,
                                             int64_t start_ns, int64_t dur_ns) {
  const trace::AnnotationId id = Annotation(thread, name, start_ns, dur_ns);
  trace_.annotations.is_plain_range.resize(id.index() + 1, 0);
  trace_.annotations.is_plain_range.back() = 1;
  return id;
}

trace::AnnotationId TraceBuilder::Annotation(trace::ThreadId thread, std::string_view name,
                                             int64_t start_ns, int64_t dur_ns) {
  trace::Annotations& rows = trace_.annotations;
  rows.start_ns.push_back(start_ns);
  rows.dur_ns.push_back(dur_ns);
  rows.name.push_back(trace_.strings.Intern(name));
  rows.thread.push_back(thread);
  rows.is_gpu.push_back(0);
  rows.is_op.push_back(0);
  return trace::AnnotationId(rows.size() - 1);
}

trace::AnnotationId TraceBuilder::GpuAnnotation(std::string_view name, int64_t start_ns,
                                                int64_t dur_ns) {
  const trace::AnnotationId id = Annotation(ThreadOf(gpu_process_, 7), name, start_ns, dur_ns);
  trace_.annotations.is_gpu.back() = 1;
  return id;
}

}  // namespace layerscope::tests
