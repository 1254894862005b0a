#include "src/ingest/kineto/canonical_ids.h"

#include <utility>
#include <vector>

#include "src/ingest/kineto/dictionary.h"
#include "src/ingest/kineto/token.h"

namespace layerscope::ingest::kineto {
namespace {

/// Maps the ids of an old dictionary to those of a new one, on first use.
class Renumbering {
 public:
  explicit Renumbering(const trace::Trace& old)
      : old_(old),
        strings_(old.strings.size()),
        processes_(old.processes.size()),
        threads_(old.threads.size()),
        streams_(old.streams.size()),
        args_(old.args.size()) {}

  trace::StringId New(trace::StringId id) {
    if (!id.valid()) return id;
    trace::StringId& mapped = strings_[id.index()];
    if (!mapped.valid()) mapped = dictionary_.String(old_.strings[id]);
    return mapped;
  }
  trace::ProcessId New(trace::ProcessId id) {
    trace::ProcessId& mapped = processes_[id.index()];
    if (!mapped.valid()) {
      const trace::Process& process = old_.processes[id.index()];
      mapped = dictionary_.Process(New(process.pid));
      dictionary_.NameProcess(mapped, New(process.name));
    }
    return mapped;
  }
  trace::ThreadId New(trace::ThreadId id) {
    trace::ThreadId& mapped = threads_[id.index()];
    if (!mapped.valid()) {
      const trace::Thread& thread = old_.threads[id.index()];
      const trace::ProcessId process = New(thread.process);
      mapped = dictionary_.Thread(process, New(thread.tid));
      dictionary_.NameThread(mapped, New(thread.name));
    }
    return mapped;
  }
  trace::StreamId New(trace::StreamId id) {
    trace::StreamId& mapped = streams_[id.index()];
    if (!mapped.valid()) {
      const trace::Stream& stream = old_.streams[id.index()];
      const trace::Label device = New(old_.devices[stream.device.index()].id);
      mapped = dictionary_.Stream(device, New(stream.id));
    }
    return mapped;
  }
  trace::ArgsId New(trace::ArgsId id) {
    trace::ArgsId& mapped = args_[id.index()];
    if (!mapped.valid()) {
      trace::Args args = old_.args[id.index()];
      for (trace::StringId* text : {&args.input_dims, &args.input_types, &args.grid, &args.block}) {
        *text = NewJson(*text);
      }
      args.collective = New(args.collective);
      args.dtype = New(args.dtype);
      mapped = dictionary_.Args(args);
    }
    return mapped;
  }
  template <typename Id>
  void Apply(std::vector<Id>& column) {
    for (Id& id : column) id = New(id);
  }
  void MoveInto(trace::Trace& trace) { dictionary_.MoveInto(trace); }

 private:
  trace::Label New(const trace::Label& label) { return {label.number, New(label.text)}; }
  trace::StringId NewJson(trace::StringId id) {
    return id.valid() ? dictionary_.String(WithoutSpace(old_.strings[id])) : id;
  }

  const trace::Trace& old_;
  Dictionary dictionary_;
  std::vector<trace::StringId> strings_;
  std::vector<trace::ProcessId> processes_;
  std::vector<trace::ThreadId> threads_;
  std::vector<trace::StreamId> streams_;
  std::vector<trace::ArgsId> args_;
};

}  // namespace

void MakeIdsCanonical(trace::Trace& trace) {
  Renumbering renumbering(trace);
  trace::Activities& a = trace.activities;
  renumbering.Apply(a.name);
  renumbering.Apply(a.process);
  renumbering.Apply(a.stream);
  renumbering.Apply(a.args);
  renumbering.Apply(trace.calls.name);
  renumbering.Apply(trace.calls.thread);
  renumbering.Apply(trace.ops.name);
  renumbering.Apply(trace.ops.thread);
  renumbering.Apply(trace.ops.args);
  renumbering.Apply(trace.scopes.name);
  renumbering.Apply(trace.scopes.thread);
  renumbering.Apply(trace.annotations.name);
  renumbering.Apply(trace.annotations.thread);
  renumbering.Apply(trace.calls.kernel);
  renumbering.Apply(trace.graph_nodes.process);
  renumbering.Apply(trace.graph_nodes.thread);
  renumbering.MoveInto(trace);
}

}  // namespace layerscope::ingest::kineto
