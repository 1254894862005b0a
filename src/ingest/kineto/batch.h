#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/columns.h"
#include "src/trace/ledger.h"
#include "src/trace/time_bounds.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::kineto {

/// What a parser's dictionary gained while it parsed one batch, in id order. Strings are views into
/// that dictionary, which outlives the read.
struct DictionaryDelta {
  std::vector<std::string_view> strings;
  std::vector<trace::Process> processes;
  std::vector<trace::Thread> threads;
  std::vector<trace::Device> devices;
  std::vector<trace::Stream> streams;
  std::vector<trace::Args> args;
};

/// The rows of one slice of the event list, in file order. All ids are those of one parser's
/// dictionary. The columns are the trace's own, so merging is appending.
struct Batch {
  trace::Activities activities;
  trace::Calls calls;
  trace::Ops ops;
  trace::Scopes scopes;
  trace::Annotations annotations;
  trace::GraphNodes graph_nodes;

  struct KindCount {
    trace::StringId ph;
    trace::StringId cat;
    int64_t n = 0;
  };
  std::vector<KindCount> counts;
  std::vector<std::pair<trace::ThreadId, trace::StringId>> thread_names;
  std::vector<std::pair<trace::ProcessId, trace::StringId>> process_names;
  trace::Ledger ledger;

  /// Over the events that set zero (DESIGN.md section 7), those with ts 0 apart.
  trace::TimeBounds bounds;

  DictionaryDelta delta;

  /// Empties everything but keeps the memory for the next slice.
  void Clear();
};

}  // namespace layerscope::ingest::kineto
