#include "src/trace/trace.h"

#include <fmt/format.h>

namespace layerscope::trace {
namespace {

template <typename T>
int64_t Bytes(const std::vector<T>& column) {
  return static_cast<int64_t>(column.capacity() * sizeof(T));
}

template <typename... Columns>
int64_t TotalBytes(const Columns&... columns) {
  return (Bytes(columns) + ...);
}

void Shift(std::vector<int64_t>& times, int64_t by_ns) {
  for (int64_t& time : times) time += by_ns;
}

}  // namespace

std::string_view ToString(TraceFormat format) {
  return format == TraceFormat::kNsys ? "nsys" : "kineto";
}

void Trace::Rebase(int64_t new_zero_ns) {
  const int64_t by_ns = zero_ns - new_zero_ns;
  if (by_ns == 0) return;
  Shift(activities.start_ns, by_ns);
  Shift(calls.start_ns, by_ns);
  Shift(ops.start_ns, by_ns);
  Shift(scopes.start_ns, by_ns);
  Shift(unjoined_scopes.start_ns, by_ns);
  Shift(annotations.start_ns, by_ns);
  Shift(graph_nodes.start_ns, by_ns);
  end_ns += by_ns;
  zero_ns = new_zero_ns;
}

std::string Trace::LabelText(const Label& label) const {
  if (label.text.valid()) return std::string(strings[label.text]);
  return fmt::format("{}", label.number);
}

std::vector<std::pair<std::string, int64_t>> Trace::MemoryUse() const {
  const Activities& a = activities;
  const Calls& c = calls;
  const Ops& o = ops;
  const Scopes& s = scopes;
  const Scopes& u = unjoined_scopes;
  const Annotations& n = annotations;
  const GraphNodes& g = graph_nodes;
  return {
      {"activities", TotalBytes(a.start_ns, a.dur_ns, a.name, a.kind, a.process, a.stream,
                                a.correlation, a.external_id, a.args, a.graph_node)},
      {"calls",
       TotalBytes(c.start_ns, c.dur_ns, c.name, c.thread, c.correlation, c.external_id, c.kernel)},
      {"ops", TotalBytes(o.start_ns, o.dur_ns, o.name, o.thread, o.external_id, o.args)},
      {"scopes", TotalBytes(s.start_ns, s.dur_ns, s.name, s.thread, s.is_path, s.path) +
                     TotalBytes(u.start_ns, u.dur_ns, u.name, u.thread, u.is_path)},
      {"annotations",
       TotalBytes(n.start_ns, n.dur_ns, n.name, n.thread, n.is_gpu, n.is_op, n.is_plain_range)},
      {"graph nodes", TotalBytes(g.process, g.node, g.original, g.thread, g.start_ns)},
      {"strings", static_cast<int64_t>(strings.bytes())},
      {"arguments", Bytes(args)},
  };
}

}  // namespace layerscope::trace
