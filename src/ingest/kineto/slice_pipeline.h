#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/base/result.h"
#include "src/ingest/kineto/batch_merger.h"
#include "src/ingest/kineto/reader.h"
#include "src/ingest/kineto/slice.h"

namespace layerscope::ingest::kineto {

/// Reads, parses and merges slices on several threads. Every thread does all three in turn: it
/// takes the next slice (one at a time, in order: decompression is sequential), parses it (in
/// parallel) and merges whatever is next in file order (one at a time). So two threads overlap
/// decompression with parsing, and no thread is idle because its part of a fixed division of work
/// has run out.
class SlicePipeline {
 public:
  SlicePipeline(SliceSource& slices, BatchMerger& merger, size_t n_threads,
                const ReadOptions& options, io::ByteSource& source);

  /// Returns when every slice is merged; the first error ends it early.
  base::Status Run();

 private:
  /// One slice on its way. The number in flight is bounded, and with it the memory.
  struct Work {
    Slice slice;
    Batch batch;
    SliceOutcome outcome;
    size_t parser = 0;
  };
  static constexpr size_t kWorkPerThread = 3;

  void RunThread(size_t parser) noexcept;
  void Loop(size_t parser, EventParser& event_parser);
  std::unique_ptr<Work> TakeNext(int64_t& sequence);
  std::unique_ptr<Work> TakeFree();
  void Merge(int64_t sequence, std::unique_ptr<Work> work);
  void Fail(base::Error error);

  SliceSource& slices_;
  BatchMerger& merger_;
  size_t n_threads_;
  const ReadOptions& options_;
  io::ByteSource& source_;
  std::vector<std::unique_ptr<EventParser>> parsers_;

  std::mutex source_mutex_;  ///< guards slices_, next_sequence_, source_done_
  int64_t next_sequence_ = 0;
  bool source_done_ = false;

  std::mutex state_mutex_;  ///< guards everything below
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Work>> free_;
  std::map<int64_t, std::unique_ptr<Work>> ready_;
  int64_t next_to_merge_ = 0;
  bool merging_ = false;
  std::optional<base::Error> error_;
};

}  // namespace layerscope::ingest::kineto
