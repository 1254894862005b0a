#pragma once

#include "src/table/table.h"
#include "src/trace/trace.h"

namespace layerscope::trace {

/// The store as tables, one row a stored row, in file order. Cells are computed from the columns on
/// demand and nothing is copied: the trace must outlive the table. Ids of processes, threads,
/// devices and streams are shown as the file wrote them; what is absent in the file is null.

/// start_ns, dur_ns, kind, name, pid, device, stream, correlation, external_id, grid, block,
/// collective.
table::Table ActivitiesView(const Trace& trace);
/// Host API calls: start_ns, dur_ns, name, pid, tid, correlation, external_id, kernel.
table::Table LaunchesView(const Trace& trace);
/// start_ns, dur_ns, name, pid, tid, external_id, input_dims, input_types.
table::Table OpsView(const Trace& trace);
/// nn.Module scopes: start_ns, dur_ns, name, pid, tid.
table::Table ScopesView(const Trace& trace);
/// start_ns, dur_ns, name, pid, tid, is_gpu.
table::Table AnnotationsView(const Trace& trace);

}  // namespace layerscope::trace
