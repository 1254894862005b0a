#include "src/trace/views.h"

#include <string>
#include <utility>

namespace layerscope::trace {
namespace {

using table::Cell;
using table::Null;
using table::Unit;

std::string_view ToString(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return "kernel";
    case ActivityKind::kMemcpy:
      return "memcpy";
    case ActivityKind::kMemset:
      return "memset";
    case ActivityKind::kGraph:
      return "graph";
    case ActivityKind::kCpu:
      return "cpu";
  }
  return {};
}

/// Adds columns to the view of one group of the store's columns.
class ViewBuilder {
 public:
  ViewBuilder(const Trace& trace, size_t n_rows) : trace_(trace) { table_.n_rows = n_rows; }

  template <typename ToCell>
  void Add(const std::string& name, Unit unit, ToCell to_cell) {
    table_.columns.push_back({{.name = name, .unit = unit}, std::move(to_cell)});
  }

  void Times(const std::vector<int64_t>& start_ns, const std::vector<int64_t>& dur_ns) {
    Add("start_ns", Unit::kNanoseconds, [&](size_t row) { return Cell(start_ns[row]); });
    Add("dur_ns", Unit::kNanoseconds, [&](size_t row) { return Cell(dur_ns[row]); });
  }
  void Names(const std::vector<StringId>& names) {
    Add("name", Unit::kNone,
        [&trace = trace_, &names](size_t row) { return Cell(trace.strings[names[row]]); });
  }
  void Processes(const std::vector<ProcessId>& processes) {
    Add("pid", Unit::kNone, [&trace = trace_, &processes](size_t row) {
      return LabelCell(trace, trace.processes[processes[row].index()].pid);
    });
  }
  void Threads(const std::vector<ThreadId>& threads) {
    Add("pid", Unit::kNone, [&trace = trace_, &threads](size_t row) {
      const Thread& thread = trace.threads[threads[row].index()];
      return LabelCell(trace, trace.processes[thread.process.index()].pid);
    });
    Add("tid", Unit::kNone, [&trace = trace_, &threads](size_t row) {
      return LabelCell(trace, trace.threads[threads[row].index()].tid);
    });
  }
  void Correlations(const std::vector<int64_t>& correlations) {
    Add("correlation", Unit::kNone,
        [&](size_t row) { return correlations[row] > 0 ? Cell(correlations[row]) : Cell(Null()); });
  }
  void ExternalIds(const std::vector<int64_t>& ids) {
    Add("external_id", Unit::kNone,
        [&](size_t row) { return ids[row] == kNoExternalId ? Cell(Null()) : Cell(ids[row]); });
  }
  void ArgText(const std::string& name, const std::vector<ArgsId>& args, StringId Args::*field) {
    Add(name, Unit::kNone, [&trace = trace_, &args, field](size_t row) {
      const StringId text = args[row].valid() ? trace.args[args[row].index()].*field : StringId();
      return text.valid() ? Cell(trace.strings[text]) : Cell(Null());
    });
  }

  static Cell LabelCell(const Trace& trace, const Label& label) {
    return label.text.valid() ? Cell(trace.strings[label.text]) : Cell(label.number);
  }

  table::Table Finish() && { return std::move(table_); }

 private:
  const Trace& trace_;
  table::Table table_;
};

}  // namespace

table::Table ActivitiesView(const Trace& trace) {
  const Activities& rows = trace.activities;
  ViewBuilder view(trace, rows.size());
  view.Times(rows.start_ns, rows.dur_ns);
  view.Add("kind", Unit::kNone, [&rows](size_t row) { return Cell(ToString(rows.kind[row])); });
  view.Names(rows.name);
  view.Processes(rows.process);
  view.Add("device", Unit::kNone, [&trace](size_t row) {
    const DeviceId device = trace.DeviceOf(trace.activities.stream[row]);
    return ViewBuilder::LabelCell(trace, trace.devices[device.index()].id);
  });
  view.Add("stream", Unit::kNone, [&trace](size_t row) {
    const StreamId stream = trace.activities.stream[row];
    return ViewBuilder::LabelCell(trace, trace.streams[stream.index()].id);
  });
  view.Correlations(rows.correlation);
  view.ExternalIds(rows.external_id);
  view.ArgText("grid", rows.args, &Args::grid);
  view.ArgText("block", rows.args, &Args::block);
  view.ArgText("collective", rows.args, &Args::collective);
  view.Add("graph_node", Unit::kNone, [&rows](size_t row) {
    const int64_t node = rows.GraphNodeOf(row);
    return node == kNoGraphNode ? Cell(Null()) : Cell(node);
  });
  return std::move(view).Finish();
}

table::Table LaunchesView(const Trace& trace) {
  const Calls& rows = trace.calls;
  ViewBuilder view(trace, rows.size());
  view.Times(rows.start_ns, rows.dur_ns);
  view.Names(rows.name);
  view.Threads(rows.thread);
  view.Correlations(rows.correlation);
  view.ExternalIds(rows.external_id);
  view.Add("kernel", Unit::kNone, [&trace](size_t row) {
    const StringId kernel = trace.calls.KernelOf(row);
    return kernel.valid() ? Cell(trace.strings[kernel]) : Cell(Null());
  });
  return std::move(view).Finish();
}

table::Table OpsView(const Trace& trace) {
  const Ops& rows = trace.ops;
  ViewBuilder view(trace, rows.size());
  view.Times(rows.start_ns, rows.dur_ns);
  view.Names(rows.name);
  view.Threads(rows.thread);
  view.ExternalIds(rows.external_id);
  view.ArgText("input_dims", rows.args, &Args::input_dims);
  view.ArgText("input_types", rows.args, &Args::input_types);
  return std::move(view).Finish();
}

table::Table ScopesView(const Trace& trace) {
  const Scopes& rows = trace.scopes;
  ViewBuilder view(trace, rows.size());
  view.Times(rows.start_ns, rows.dur_ns);
  view.Names(rows.name);
  view.Threads(rows.thread);
  view.Add("is_path", Unit::kNone, [&rows](size_t row) { return Cell(rows.is_path[row] != 0); });
  return std::move(view).Finish();
}

table::Table AnnotationsView(const Trace& trace) {
  const Annotations& rows = trace.annotations;
  ViewBuilder view(trace, rows.size());
  view.Times(rows.start_ns, rows.dur_ns);
  view.Names(rows.name);
  view.Threads(rows.thread);
  view.Add("is_gpu", Unit::kNone, [&rows](size_t row) { return Cell(rows.is_gpu[row] != 0); });
  return std::move(view).Finish();
}

}  // namespace layerscope::trace
