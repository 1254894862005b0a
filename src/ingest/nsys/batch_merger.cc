#include "src/ingest/nsys/batch_merger.h"

#include <vector>

namespace layerscope::ingest::nsys {
namespace {

/// The ids of one dictionary as ids of another, each mapped when it is first met.
class IdMap {
 public:
  IdMap(const RowDictionary& from, RowDictionary& to)
      : from_(from),
        to_(to),
        texts_(from.texts().size()),
        table_strings_(from.table_strings().size()),
        processes_(from.processes().size()),
        threads_(from.threads().size()),
        streams_(from.streams().size()),
        args_(from.args().size()) {}

  trace::StringId operator()(trace::StringId id) {
    if (!id.valid()) return id;
    if (RowDictionary::IsFromTable(id)) return TableString(RowDictionary::Slot(id));
    trace::StringId& mapped = texts_[id.index()];
    if (!mapped.valid()) mapped = to_.Text(from_.texts()[id]);
    return mapped;
  }
  trace::ProcessId operator()(trace::ProcessId id) {
    trace::ProcessId& mapped = processes_[id.index()];
    if (!mapped.valid()) mapped = to_.Process(from_.processes()[id.index()]);
    return mapped;
  }
  trace::ThreadId operator()(trace::ThreadId id) {
    trace::ThreadId& mapped = threads_[id.index()];
    if (!mapped.valid()) mapped = to_.Thread(from_.threads()[id.index()]);
    return mapped;
  }
  trace::StreamId operator()(trace::StreamId id) {
    trace::StreamId& mapped = streams_[id.index()];
    if (!mapped.valid()) {
      StreamKey key = from_.streams()[id.index()];
      key.process = (*this)(key.process);
      mapped = to_.Stream(key);
    }
    return mapped;
  }
  trace::ArgsId operator()(trace::ArgsId id) {
    if (!id.valid()) return id;
    trace::ArgsId& mapped = args_[id.index()];
    if (!mapped.valid()) {
      ArgsKey key = from_.args()[id.index()];
      key.sizes = (*this)(key.sizes);
      mapped = to_.Args(key);
    }
    return mapped;
  }
  template <typename Id>
  void Append(const std::vector<Id>& from, std::vector<Id>& to) {
    for (const Id id : from) to.push_back((*this)(id));
  }

 private:
  trace::StringId TableString(size_t slot) {
    trace::StringId& mapped = table_strings_[slot];
    if (!mapped.valid()) {
      mapped = to_.TableString(from_.table_strings()[slot], from_.table_string_uses()[slot]);
    }
    return mapped;
  }

  const RowDictionary& from_;
  RowDictionary& to_;
  std::vector<trace::StringId> texts_;
  std::vector<trace::StringId> table_strings_;
  std::vector<trace::ProcessId> processes_;
  std::vector<trace::ThreadId> threads_;
  std::vector<trace::StreamId> streams_;
  std::vector<trace::ArgsId> args_;
};

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void AppendActivities(const trace::Activities& from, IdMap& ids, trace::Activities& to) {
  if (!from.graph_node.empty()) to.graph_node.resize(to.size(), trace::kNoGraphNode);
  Append(from.graph_node, to.graph_node);
  Append(from.start_ns, to.start_ns);
  Append(from.dur_ns, to.dur_ns);
  ids.Append(from.name, to.name);
  Append(from.kind, to.kind);
  ids.Append(from.process, to.process);
  ids.Append(from.stream, to.stream);
  Append(from.correlation, to.correlation);
  Append(from.external_id, to.external_id);
  ids.Append(from.args, to.args);
}

void AppendCalls(const trace::Calls& from, IdMap& ids, trace::Calls& to) {
  Append(from.start_ns, to.start_ns);
  Append(from.dur_ns, to.dur_ns);
  ids.Append(from.name, to.name);
  ids.Append(from.thread, to.thread);
  Append(from.correlation, to.correlation);
  Append(from.external_id, to.external_id);
}

void AppendNvtx(const NvtxRows& from, IdMap& ids, NvtxRows& to) {
  Append(from.start_ns, to.start_ns);
  Append(from.dur_ns, to.dur_ns);
  ids.Append(from.name, to.name);
  ids.Append(from.thread, to.thread);
  ids.Append(from.args, to.args);
  Append(from.kind, to.kind);
}

void AppendGraphNodes(const trace::GraphNodes& from, IdMap& ids, trace::GraphNodes& to) {
  ids.Append(from.process, to.process);
  Append(from.node, to.node);
  Append(from.original, to.original);
  ids.Append(from.thread, to.thread);
  Append(from.start_ns, to.start_ns);
}

}  // namespace

void BatchMerger::ReserveActivities(size_t n_rows) {
  trace::Activities& rows = all_.activities;
  rows.start_ns.reserve(n_rows);
  rows.dur_ns.reserve(n_rows);
  rows.name.reserve(n_rows);
  rows.kind.reserve(n_rows);
  rows.process.reserve(n_rows);
  rows.stream.reserve(n_rows);
  rows.correlation.reserve(n_rows);
  rows.external_id.reserve(n_rows);
  rows.args.reserve(n_rows);
}

void BatchMerger::Add(std::string_view table, const Batch& batch) {
  IdMap ids(batch.dictionary, all_.dictionary);
  AppendActivities(batch.activities, ids, all_.activities);
  AppendCalls(batch.calls, ids, all_.calls);
  AppendNvtx(batch.nvtx, ids, all_.nvtx);
  AppendGraphNodes(batch.graph_nodes, ids, all_.graph_nodes);
  ids.Append(batch.graph_node_events, all_.graph_node_events);
  all_.ledger.Merge(batch.ledger);
  all_.n_rows += batch.n_rows;
  all_.bounds.Merge(batch.bounds);
  rows_by_table_[std::string(table)] += batch.n_rows;
}

}  // namespace layerscope::ingest::nsys
