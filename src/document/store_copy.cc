#include "src/document/store_copy.h"

#include <optional>
#include <string>

#include "src/base/check.h"
#include "src/document/event_list.h"
#include "src/document/store_events.h"
#include "src/document/store_order.h"
#include "src/document/trace_json.h"

namespace layerscope::document {
namespace {

/// Events between two looks at the stop flag and reports of progress.
constexpr int64_t kEventsBetweenReports = 4096;

bool IsDue(int64_t n_events) {
  return n_events % kEventsBetweenReports == 0;
}

bool Stopped(const CopyHooks& hooks) {
  return hooks.stop != nullptr && hooks.stop->requested();
}

ingest::kineto::RawEvent EventOf(const trace::Trace& trace, const StoreRow& row) {
  ingest::kineto::RawEvent event;
  event.kind = row.kind;
  event.row = row.row;
  event.start_ns = AbsoluteNs(trace, row.start_ns);
  event.dur_ns = row.dur_ns;
  return event;
}

base::Status WriteRows(const StoreEvents& events, const CopyPlan& plan, const CopyHooks& hooks,
                       EventList& list, CopyCounts& counts) {
  StoreOrder order(*plan.trace);
  std::string text;
  while (const std::optional<StoreRow> row = order.Next()) {
    if (IsDue(counts.n_input++)) {
      if (Stopped(hooks)) return base::Interrupted();
      if (hooks.progress) hooks.progress(counts.n_input, order.n_rows());
    }
    if (plan.keeps && !plan.keeps(EventOf(*plan.trace, *row))) continue;
    ++counts.n_kept;
    events.Write(*row, text);
    if (base::Status written = list.Write(text); !written.ok()) return written;
  }
  return {};
}

/// Where the nodes of graphs were captured, behind the rows.
base::Status WriteGraphNodes(const StoreEvents& events, const CopyPlan& plan,
                             const CopyHooks& hooks, EventList& list, CopyCounts& counts) {
  std::string text;
  for (size_t row = 0; row < plan.trace->graph_nodes.size(); ++row) {
    if (IsDue(counts.n_input++) && Stopped(hooks)) return base::Interrupted();
    if (plan.keeps_graph_node && !plan.keeps_graph_node(row)) continue;
    ++counts.n_kept;
    events.WriteGraphNode(row, text);
    if (base::Status written = list.Write(text); !written.ok()) return written;
  }
  return {};
}

/// `next` gives the text of one event at a time.
template <typename Next>
base::Status WriteAdded(Next next, const CopyHooks& hooks, EventList& list, CopyCounts& counts) {
  std::string text;
  while (next(text)) {
    if (IsDue(counts.n_added++) && Stopped(hooks)) return base::Interrupted();
    if (base::Status written = list.Write(text); !written.ok()) return written;
  }
  return {};
}

}  // namespace

base::Result<CopyCounts> CopyStore(const CopyPlan& plan, const CopyHooks& hooks,
                                   io::ByteSink& sink) {
  LS_CHECK(plan.trace != nullptr, "a copy knows the trace that it is made of");
  StoreEvents events(*plan.trace, plan.names_process);
  EventList list(sink);
  CopyCounts counts;
  const std::string added = plan.members.empty() ? "" : ",\n" + plan.members;
  base::Status status = sink.Write("{\n" + events.Members() + added + ",\n\"traceEvents\": [");
  const auto name = [&events](std::string& text) { return events.NextName(text); };
  if (status.ok()) status = WriteAdded(name, hooks, list, counts);
  if (status.ok()) status = WriteRows(events, plan, hooks, list, counts);
  if (status.ok()) status = WriteGraphNodes(events, plan, hooks, list, counts);
  if (status.ok() && plan.next_added) status = WriteAdded(plan.next_added, hooks, list, counts);
  if (status.ok()) status = sink.Write("\n]\n}\n");
  if (status.ok()) status = sink.Finish();
  if (!status.ok()) return std::move(status).error();
  return counts;
}

}  // namespace layerscope::document
