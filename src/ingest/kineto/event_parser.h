#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/ingest/kineto/batch.h"
#include "src/ingest/kineto/dictionary.h"
#include "src/ingest/kineto/event_class.h"
#include "src/ingest/kineto/event_fields.h"

namespace layerscope::ingest::kineto {

/// How far one slice was read.
struct SliceOutcome {
  /// False: the text is not a list of events up to its end or to a closing bracket; the batch then
  /// holds nothing that may be used but its dictionary delta.
  bool ok = false;
  /// The list's own `]` stands inside the slice, this many bytes from its begin; -1: it does not.
  int64_t array_end = -1;
};

/// Parses slices of a trace's event list into batches. One a thread; it keeps its dictionary and
/// its buffers from slice to slice.
class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  /// Bytes that must be readable and writable before and after a slice: `[` goes before it, `]`
  /// after it, and simdjson reads a little further.
  static constexpr size_t kBytesBefore = 1;
  static constexpr size_t kBytesAfter = 96;

  /// Parses `size` bytes at `text`, which begin at an event and end after one. The byte before and
  /// the byte after are overwritten while parsing and restored. `offset` is where the slice stands
  /// in the document, for ledger samples; -1 where that is unknown (repaired text).
  SliceOutcome Parse(char* text, size_t size, int64_t offset, Batch& batch);

  /// From now on the tokens of each event parsed are also stored in `*fields` (null: no longer); of
  /// a slice of several events the last one's stay. They view the text given to Parse.
  void KeepFields(EventFields* fields);

  /// Copies what the dictionary has gained since the last call into the batch.
  void TakeDelta(Batch& batch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace layerscope::ingest::kineto
