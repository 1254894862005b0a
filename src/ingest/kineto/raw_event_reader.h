#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/ingest/kineto/batch.h"
#include "src/ingest/kineto/document_head.h"
#include "src/ingest/kineto/event_fields.h"
#include "src/ingest/kineto/event_parser.h"
#include "src/ingest/kineto/event_splitter.h"
#include "src/io/byte_source.h"

namespace layerscope::ingest::kineto {

/// Which columns of the trace an event has a row in.
enum class RowKind : uint8_t { kNone, kActivity, kCall, kOp, kScope, kAnnotation };

/// One event of the list as it stands in the file.
struct RawEvent {
  /// From `{` to its bracket: byte for byte, or mended where it is no JSON (strict_text.h).
  std::string_view text;
  bool repaired = false;  ///< `text` was mended
  EventFields fields;     ///< tokens; of the repaired text where the text needed repair
  RowKind kind = RowKind::kNone;
  size_t row = 0;  ///< in the columns that ReadTrace makes of the same file
  /// Of the row: what ReadTrace gives, before zero is taken off.
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
};

/// Walks the events of a trace that ReadTrace has read before: the same events, in file order, as
/// text. What ReadTrace leaves out as damaged is left out here too. For documents that copy events;
/// one thread, about 200 MB/s. Memory is a piece of the text and the distinct strings.
class RawEventReader {
 public:
  explicit RawEventReader(io::ByteSource& source);
  RawEventReader(const RawEventReader&) = delete;
  RawEventReader& operator=(const RawEventReader&) = delete;

  /// Finds the event list; kInvalidInput when there is none. Call once, first.
  base::Status ReadHead();
  /// The next event, valid until the next call; false at the end of the list or of the file.
  base::Result<bool> Next(RawEvent& event);

  bool is_array() const { return head_.is_array(); }
  /// The members before traceEvents, byte for byte, without commas around them; empty when they are
  /// no JSON or too large.
  std::string MembersBefore() const;
  /// The same for those behind, once Next has returned false. Also empty when they hold a second
  /// traceEvents.
  std::string MembersAfter();

 private:
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  static constexpr size_t kMaxTail = size_t{16} << 20;
  bool ParseObject(RawEvent& event);
  bool Parse(std::string_view text, RawEvent& event);
  void Mend(std::string_view text, bool repaired, RawEvent& event);
  base::Result<bool> ReadPiece();

  io::ByteSource& source_;
  DocumentHead head_;
  EventSplitter splitter_;
  EventParser parser_;
  EventFields fields_;
  Batch batch_;
  std::string padded_;
  std::string repaired_;
  std::string strict_;
  std::string piece_;
  std::string tail_;
  int64_t offset_ = 0;
  bool at_end_ = false;      ///< of the file
  bool list_ended_ = false;  ///< its `]` was seen
  size_t n_activities_ = 0, n_calls_ = 0, n_ops_ = 0, n_scopes_ = 0, n_annotations_ = 0;
};

}  // namespace layerscope::ingest::kineto
