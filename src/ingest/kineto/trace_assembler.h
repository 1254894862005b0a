#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/ingest/kineto/batch.h"
#include "src/ingest/kineto/dictionary.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::kineto {

/// Appends batches to one trace, mapping each parser's ids to the trace's. Batches of one parser
/// come in the order in which it parsed them; batches of all parsers come in file order.
class TraceAssembler {
 public:
  /// `parser` numbers the dictionaries. The delta must be added even when the rows are not used.
  void AddDelta(size_t parser, const DictionaryDelta& delta);
  void AddRows(size_t parser, const Batch& batch);
  /// From now on rows are counted and not kept.
  void CountOnly() { count_only_ = true; }
  trace::Ledger& ledger() { return trace_.ledger; }
  int64_t n_events() const { return n_events_; }
  int64_t n_without_ph() const { return n_without_ph_; }

  /// The finished trace: ids renumbered in order of the rows that use them, so that they do not
  /// tell how the file was sliced, and times made relative to its zero.
  trace::Trace Finish();

 private:
  /// One parser's dictionary as far as it is known, and where its entries went.
  struct Source {
    DictionaryDelta known;
    std::vector<trace::StringId> string_ids;
    std::vector<trace::ProcessId> process_ids;
    std::vector<trace::ThreadId> thread_ids;
    std::vector<trace::StreamId> stream_ids;
    std::vector<trace::ArgsId> args_ids;
  };

  trace::StringId Map(Source& source, trace::StringId id);
  trace::ProcessId Map(Source& source, trace::ProcessId id);
  trace::ThreadId Map(Source& source, trace::ThreadId id);
  trace::StreamId Map(Source& source, trace::StreamId id);
  trace::ArgsId Map(Source& source, trace::ArgsId id);
  trace::Label MapLabel(Source& source, const trace::Label& label);
  template <typename Id>
  void AppendIds(Source& source, const std::vector<Id>& from, std::vector<Id>& to);

  void AppendRows(Source& source, const Batch& batch);
  void AddCounts(Source& source, const Batch& batch);
  void AddNames(Source& source, const Batch& batch);

  trace::Trace trace_;
  Dictionary dictionary_;
  std::vector<Source> sources_;
  bool count_only_ = false;
  int64_t n_events_ = 0;
  int64_t n_without_ph_ = 0;
  trace::TimeBounds bounds_;
};

}  // namespace layerscope::ingest::kineto
