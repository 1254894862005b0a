#include "tests/support/store_text.h"

#include <fmt/format.h>

#include <iterator>

namespace layerscope::tests {
namespace {

template <typename T>
void Column(std::string& out, const char* name, const std::vector<T>& values) {
  fmt::format_to(std::back_inserter(out), "{}:", name);
  for (const T& value : values) {
    if constexpr (requires { value.index(); }) {
      fmt::format_to(std::back_inserter(out), " {}",
                     value.valid() ? static_cast<int64_t>(value.index()) : -1);
    } else {
      fmt::format_to(std::back_inserter(out), " {}", static_cast<int64_t>(value));
    }
  }
  out += '\n';
}

int64_t Index(trace::StringId id) {
  return id.valid() ? static_cast<int64_t>(id.index()) : -1;
}

std::string Label(const trace::Label& label) {
  return fmt::format("{}/{}", label.number, Index(label.text));
}

void Dictionaries(std::string& out, const trace::Trace& trace) {
  auto to = std::back_inserter(out);
  for (size_t i = 0; i < trace.strings.size(); ++i) {
    fmt::format_to(to, "string {}: {}\n", i, trace.strings[trace::StringId(i)]);
  }
  for (const trace::Args& args : trace.args) {
    fmt::format_to(to, "args {} {} {} {} {} {} {} {}\n", Index(args.input_dims),
                   Index(args.input_types), Index(args.grid), Index(args.block),
                   Index(args.collective), Index(args.dtype), args.message_elements,
                   args.group_size);
  }
  for (const trace::Process& process : trace.processes) {
    fmt::format_to(to, "process {} {} {}\n", Label(process.pid), Index(process.name),
                   process.rank.value_or(-1));
  }
  for (const trace::Thread& thread : trace.threads) {
    fmt::format_to(to, "thread {} {} {}\n", thread.process.index(), Label(thread.tid),
                   Index(thread.name));
  }
  for (const trace::Stream& stream : trace.streams) {
    fmt::format_to(to, "stream {} {}\n", Label(trace.devices[stream.device.index()].id),
                   Label(stream.id));
  }
}

void Rows(std::string& out, const trace::Trace& trace) {
  const auto spans = [&out](const char* kind, const auto& rows) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", kind, rows.size());
    Column(out, "start_ns", rows.start_ns);
    Column(out, "dur_ns", rows.dur_ns);
    Column(out, "name", rows.name);
  };
  spans("activities", trace.activities);
  Column(out, "kind", trace.activities.kind);
  Column(out, "process", trace.activities.process);
  Column(out, "stream", trace.activities.stream);
  Column(out, "correlation", trace.activities.correlation);
  Column(out, "external_id", trace.activities.external_id);
  Column(out, "args", trace.activities.args);
  Column(out, "graph_node", trace.activities.graph_node);
  spans("calls", trace.calls);
  Column(out, "thread", trace.calls.thread);
  Column(out, "correlation", trace.calls.correlation);
  Column(out, "external_id", trace.calls.external_id);
  Column(out, "kernel", trace.calls.kernel);
  spans("ops", trace.ops);
  Column(out, "thread", trace.ops.thread);
  Column(out, "external_id", trace.ops.external_id);
  Column(out, "args", trace.ops.args);
  spans("scopes", trace.scopes);
  Column(out, "thread", trace.scopes.thread);
  Column(out, "is_path", trace.scopes.is_path);
  spans("annotations", trace.annotations);
  Column(out, "thread", trace.annotations.thread);
  Column(out, "is_gpu", trace.annotations.is_gpu);
  Column(out, "is_op", trace.annotations.is_op);
  Column(out, "is_plain_range", trace.annotations.is_plain_range);
  fmt::format_to(std::back_inserter(out), "graph nodes {}\n", trace.graph_nodes.size());
  Column(out, "process", trace.graph_nodes.process);
  Column(out, "node", trace.graph_nodes.node);
  Column(out, "original", trace.graph_nodes.original);
  Column(out, "thread", trace.graph_nodes.thread);
  Column(out, "start_ns", trace.graph_nodes.start_ns);
}

}  // namespace

std::string StoreText(const trace::Trace& trace) {
  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "zero {} end {} events {}\n", trace.zero_ns, trace.end_ns,
                 trace.counts.n_events);
  for (const auto& [kind, n] : trace.counts.by_cat) fmt::format_to(to, "count {} {}\n", kind, n);
  for (const auto& entry : trace.ledger.ToHealth()) {
    fmt::format_to(to, "ledger {} {} {}\n", entry.code, entry.count, entry.message);
  }
  for (const auto& device : trace.metadata.devices) {
    fmt::format_to(to, "device {} {}\n", device.id, device.name);
  }
  fmt::format_to(to, "profiler {} {} {}\n", trace.metadata.profiler_version,
                 trace.metadata.graph_trace_mode, trace.metadata.session_start_ns.value_or(0));
  fmt::format_to(to, "rank {} of {}\n", trace.metadata.rank.value_or(-1),
                 trace.metadata.world_size.value_or(-1));
  Dictionaries(out, trace);
  Rows(out, trace);
  return out;
}

}  // namespace layerscope::tests
