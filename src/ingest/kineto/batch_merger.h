#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/ingest/kineto/batch.h"
#include "src/ingest/kineto/event_parser.h"
#include "src/ingest/kineto/event_splitter.h"
#include "src/ingest/kineto/slice.h"
#include "src/ingest/kineto/trace_assembler.h"

namespace layerscope::ingest::kineto {

/// Takes parsed slices in file order and proves the cuts between them: a slice's rows are used when
/// it begins where a proven one ended and parsed to its end. Anything else goes through the
/// splitter and is parsed (if need be repaired) event by event, joined with the slices that follow.
class BatchMerger {
 public:
  /// Parsers 0 … n-1 are the caller's; the merger has one of its own for single events.
  explicit BatchMerger(size_t n_parsers) : own_parser_(n_parsers) {}

  void Take(size_t parser, Slice& slice, const Batch& batch, SliceOutcome outcome);
  /// Called once after the last slice.
  void Close(bool document_is_array);
  TraceAssembler& assembler() { return assembler_; }
  /// What stands behind the event list, at most 16 MiB.
  const std::string& tail() const { return tail_; }

 private:
  static constexpr size_t kMaxTail = size_t{16} << 20;
  enum class Text : uint8_t { kGoesOn, kIsComplete };
  void SplitAll(Text text);
  void ParseOne();
  bool TryParse(std::string_view text, int64_t offset, int64_t n_repairs);
  void AddTail(std::string_view text);

  TraceAssembler assembler_;
  EventSplitter splitter_;
  EventParser single_;
  Batch single_batch_;
  size_t own_parser_;
  std::string padded_;
  std::string repaired_;
  bool list_ended_ = false;
  std::string tail_;
};

}  // namespace layerscope::ingest::kineto
