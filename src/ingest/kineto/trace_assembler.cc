#include "src/ingest/kineto/trace_assembler.h"

#include <algorithm>
#include <utility>

#include "src/ingest/kineto/canonical_ids.h"

namespace layerscope::ingest::kineto {
namespace {

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void TraceAssembler::AddDelta(size_t parser, const DictionaryDelta& delta) {
  if (parser >= sources_.size()) sources_.resize(parser + 1);
  Source& source = sources_[parser];
  DictionaryDelta& known = source.known;
  Append(delta.strings, known.strings);
  Append(delta.processes, known.processes);
  Append(delta.threads, known.threads);
  Append(delta.devices, known.devices);
  Append(delta.streams, known.streams);
  Append(delta.args, known.args);
  source.string_ids.resize(known.strings.size());
  source.process_ids.resize(known.processes.size());
  source.thread_ids.resize(known.threads.size());
  source.stream_ids.resize(known.streams.size());
  source.args_ids.resize(known.args.size());
}

trace::StringId TraceAssembler::Map(Source& source, trace::StringId id) {
  if (!id.valid()) return id;
  trace::StringId& mapped = source.string_ids[id.index()];
  if (!mapped.valid()) mapped = dictionary_.String(source.known.strings[id.index()]);
  return mapped;
}

trace::Label TraceAssembler::MapLabel(Source& source, const trace::Label& label) {
  return {label.number, Map(source, label.text)};
}

trace::ProcessId TraceAssembler::Map(Source& source, trace::ProcessId id) {
  trace::ProcessId& mapped = source.process_ids[id.index()];
  if (!mapped.valid()) {
    mapped = dictionary_.Process(MapLabel(source, source.known.processes[id.index()].pid));
  }
  return mapped;
}

trace::ThreadId TraceAssembler::Map(Source& source, trace::ThreadId id) {
  trace::ThreadId& mapped = source.thread_ids[id.index()];
  if (!mapped.valid()) {
    const trace::Thread& thread = source.known.threads[id.index()];
    const trace::ProcessId process = Map(source, thread.process);
    mapped = dictionary_.Thread(process, MapLabel(source, thread.tid));
  }
  return mapped;
}

trace::StreamId TraceAssembler::Map(Source& source, trace::StreamId id) {
  trace::StreamId& mapped = source.stream_ids[id.index()];
  if (!mapped.valid()) {
    const trace::Stream& stream = source.known.streams[id.index()];
    const trace::Label device = MapLabel(source, source.known.devices[stream.device.index()].id);
    mapped = dictionary_.Stream(device, MapLabel(source, stream.id));
  }
  return mapped;
}

trace::ArgsId TraceAssembler::Map(Source& source, trace::ArgsId id) {
  trace::ArgsId& mapped = source.args_ids[id.index()];
  if (!mapped.valid()) {
    trace::Args args = source.known.args[id.index()];
    for (trace::StringId* text : {&args.input_dims, &args.input_types, &args.grid, &args.block,
                                  &args.collective, &args.dtype}) {
      *text = Map(source, *text);
    }
    mapped = dictionary_.Args(args);
  }
  return mapped;
}

template <typename Id>
void TraceAssembler::AppendIds(Source& source, const std::vector<Id>& from, std::vector<Id>& to) {
  to.reserve(std::max(to.capacity() < to.size() + from.size() ? to.size() * 2 : 0,
                      to.size() + from.size()));
  for (const Id id : from) to.push_back(Map(source, id));
}

void TraceAssembler::AppendRows(Source& source, const Batch& batch) {
  const auto add = [&](const auto& from, auto& to) {
    Append(from.start_ns, to.start_ns);
    Append(from.dur_ns, to.dur_ns);
    AppendIds(source, from.name, to.name);
  };
  const trace::Activities& a = batch.activities;
  if (!a.graph_node.empty()) {
    trace_.activities.graph_node.resize(trace_.activities.size(), trace::kNoGraphNode);
  }
  Append(a.graph_node, trace_.activities.graph_node);
  add(a, trace_.activities);
  Append(a.kind, trace_.activities.kind);
  AppendIds(source, a.process, trace_.activities.process);
  AppendIds(source, a.stream, trace_.activities.stream);
  Append(a.correlation, trace_.activities.correlation);
  Append(a.external_id, trace_.activities.external_id);
  AppendIds(source, a.args, trace_.activities.args);
  if (!batch.calls.kernel.empty()) trace_.calls.kernel.resize(trace_.calls.size());
  AppendIds(source, batch.calls.kernel, trace_.calls.kernel);
  add(batch.calls, trace_.calls);
  AppendIds(source, batch.calls.thread, trace_.calls.thread);
  Append(batch.calls.correlation, trace_.calls.correlation);
  Append(batch.calls.external_id, trace_.calls.external_id);
  add(batch.ops, trace_.ops);
  AppendIds(source, batch.ops.thread, trace_.ops.thread);
  Append(batch.ops.external_id, trace_.ops.external_id);
  AppendIds(source, batch.ops.args, trace_.ops.args);
  add(batch.scopes, trace_.scopes);
  AppendIds(source, batch.scopes.thread, trace_.scopes.thread);
  Append(batch.scopes.is_path, trace_.scopes.is_path);
  add(batch.annotations, trace_.annotations);
  AppendIds(source, batch.annotations.thread, trace_.annotations.thread);
  Append(batch.annotations.is_gpu, trace_.annotations.is_gpu);
  Append(batch.annotations.is_op, trace_.annotations.is_op);
  AppendIds(source, batch.graph_nodes.process, trace_.graph_nodes.process);
  AppendIds(source, batch.graph_nodes.thread, trace_.graph_nodes.thread);
  Append(batch.graph_nodes.node, trace_.graph_nodes.node);
  Append(batch.graph_nodes.original, trace_.graph_nodes.original);
  Append(batch.graph_nodes.start_ns, trace_.graph_nodes.start_ns);
}

void TraceAssembler::AddRows(size_t parser, const Batch& batch) {
  Source& source = sources_[parser];
  if (!count_only_) AppendRows(source, batch);
  AddCounts(source, batch);
  AddNames(source, batch);
  trace_.ledger.Merge(batch.ledger);
  bounds_.Merge(batch.bounds);
}

void TraceAssembler::AddCounts(Source& source, const Batch& batch) {
  for (const Batch::KindCount& count : batch.counts) {
    const std::string ph(source.known.strings[count.ph.index()]);
    const std::string cat(source.known.strings[count.cat.index()]);
    trace_.counts.by_ph[ph] += count.n;
    trace_.counts.by_cat[ph + "|" + cat] += count.n;
    n_events_ += count.n;
    if (ph.empty()) n_without_ph_ += count.n;
  }
}

void TraceAssembler::AddNames(Source& source, const Batch& batch) {
  for (const auto& [thread, name] : batch.thread_names) {
    dictionary_.NameThread(Map(source, thread), Map(source, name));
  }
  for (const auto& [process, name] : batch.process_names) {
    dictionary_.NameProcess(Map(source, process), Map(source, name));
  }
}

trace::Trace TraceAssembler::Finish() {
  trace_.counts.n_events = n_events_;
  dictionary_.MoveInto(trace_);
  MakeIdsCanonical(trace_);
  trace::SetZero(bounds_, trace_);
  return std::move(trace_);
}

}  // namespace layerscope::ingest::kineto
