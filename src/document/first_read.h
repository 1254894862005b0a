#pragma once

#include <array>
#include <cstdint>

#include "src/base/result.h"
#include "src/ingest/kineto/raw_event_reader.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// Tells whether a trace that is read a second time is still the one that was read first: as many
/// events, and every row at its place with its time and length. Text beside these may differ.
class FirstRead {
 public:
  /// `trace` must outlive this.
  explicit FirstRead(const trace::Trace& trace) : trace_(trace) {}

  /// To be told of every event of the second read, in order. After an error the event's row must
  /// not be looked up.
  base::Status Check(const ingest::kineto::RawEvent& event);
  /// Once the second read is at its end.
  base::Status CheckEnd() const;

 private:
  const trace::Trace& trace_;
  int64_t n_events_ = 0;
  std::array<size_t, 6> n_rows_{};  ///< by RowKind
};

}  // namespace layerscope::document
