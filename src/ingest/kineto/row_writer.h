#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/ingest/kineto/batch.h"
#include "src/ingest/kineto/dictionary.h"
#include "src/ingest/kineto/event_fields.h"
#include "src/ingest/kineto/kind_counter.h"

namespace layerscope::ingest::kineto {

/// Turns the fields of one event into counts and, where it is one that we keep, a row of the batch.
/// It knows the trace format, not JSON.
class RowWriter {
 public:
  /// Does this event's class need its `args`? Asked as soon as ph and cat are known.
  bool NeedsArgs(const EventFields& fields);
  /// Counts the event and writes its row. `offset`: its place in the document, for the ledger.
  void Write(const EventFields& fields, const ArgFields& args, int64_t offset, Batch& batch);
  void Flush(Batch& batch) { kinds_.Flush(batch); }
  Dictionary& dictionary() { return dictionary_; }

 private:
  /// Start and length of a complete event; false: it is left out, and the ledger says why.
  struct Span {
    int64_t start_ns = 0;
    int64_t dur_ns = 0;
  };
  bool ReadSpan(const EventFields& fields, int64_t offset, Batch& batch, Span& span);
  bool ReadTime(std::string_view token, int64_t offset, Batch& batch, int64_t& ns);

  void WriteComplete(const EventFields& fields, const ArgFields& args, EventClass event_class,
                     int64_t offset, Batch& batch);
  void WriteActivity(const EventFields& fields, const ArgFields& args, trace::ActivityKind kind,
                     Span span, Batch& batch);
  void WriteCall(const EventFields& fields, const ArgFields& args, Span span, Batch& batch);
  void WriteOp(const EventFields& fields, const ArgFields& args, Span span, Batch& batch);
  void WriteAnnotation(const EventFields& fields, bool is_gpu, bool is_op, Span span, Batch& batch);
  /// `name` is a `Class_k`, or a path.
  void WriteScope(const EventFields& fields, std::string_view name, bool is_path, Span span,
                  Batch& batch);
  void WriteGraphNode(const EventFields& fields, const ArgFields& args, Span span, Batch& batch);
  void WriteMetadata(const EventFields& fields, const ArgFields& args, Batch& batch);

  std::string_view Text(std::string_view token, Batch& batch);
  /// The path of an annotation that names a module; nullopt: it is another annotation.
  std::optional<std::string_view> ModulePath(std::string_view token);
  trace::StringId Name(std::string_view token, Batch& batch);
  trace::StringId Json(std::string_view token);
  trace::Label LabelOf(std::string_view token, Batch& batch);
  trace::ThreadId ThreadOf(const EventFields& fields, Batch& batch);
  trace::StreamId StreamOf(const EventFields& fields, const ArgFields& args, Batch& batch);

  /// The last look-up of a pair of tokens: neighbours in the file nearly always share it.
  template <typename Id>
  struct LastPair {
    std::string first, second;
    Id id;
    bool Matches(std::string_view a, std::string_view b) const {
      return id.valid() && a == first && b == second;
    }
  };

  Dictionary dictionary_;
  KindCounter kinds_;
  std::string unescaped_;
  LastPair<trace::ThreadId> last_thread_;
  LastPair<trace::StreamId> last_stream_;
};

}  // namespace layerscope::ingest::kineto
