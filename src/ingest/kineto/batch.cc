#include "src/ingest/kineto/batch.h"

namespace layerscope::ingest::kineto {
namespace {

template <typename... Columns>
void ClearAll(Columns&... columns) {
  (columns.clear(), ...);
}

}  // namespace

void Batch::Clear() {
  trace::Activities& a = activities;
  ClearAll(a.start_ns, a.dur_ns, a.name, a.kind, a.process, a.stream, a.correlation, a.external_id,
           a.args, a.graph_node);
  ClearAll(calls.start_ns, calls.dur_ns, calls.name, calls.thread, calls.correlation,
           calls.external_id, calls.kernel);
  ClearAll(ops.start_ns, ops.dur_ns, ops.name, ops.thread, ops.external_id, ops.args);
  ClearAll(scopes.start_ns, scopes.dur_ns, scopes.name, scopes.thread, scopes.is_path);
  ClearAll(annotations.start_ns, annotations.dur_ns, annotations.name, annotations.thread,
           annotations.is_gpu, annotations.is_op);
  ClearAll(graph_nodes.process, graph_nodes.node, graph_nodes.original, graph_nodes.thread,
           graph_nodes.start_ns);
  ClearAll(counts, thread_names, process_names);
  ClearAll(delta.strings, delta.processes, delta.threads, delta.devices, delta.streams, delta.args);
  ledger = {};
  bounds = {};
}

}  // namespace layerscope::ingest::kineto
