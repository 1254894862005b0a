#include "src/ingest/kineto/slice_pipeline.h"

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace layerscope::ingest::kineto {

SlicePipeline::SlicePipeline(SliceSource& slices, BatchMerger& merger, size_t n_threads,
                             const ReadOptions& options, io::ByteSource& source)
    : slices_(slices), merger_(merger), n_threads_(n_threads), options_(options), source_(source) {
  for (size_t i = 0; i < n_threads; ++i) parsers_.push_back(std::make_unique<EventParser>());
  const size_t n_work = n_threads == 1 ? 1 : n_threads * kWorkPerThread;
  for (size_t i = 0; i < n_work; ++i) free_.push_back(std::make_unique<Work>());
}

base::Status SlicePipeline::Run() {
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < n_threads_; ++i) threads.emplace_back([this, i] { RunThread(i); });
  } catch (const std::system_error&) {
    // The system grants no more threads: the ones that run do all the work.
  }
  RunThread(0);
  for (std::thread& thread : threads) thread.join();
  if (error_) return std::move(*error_);
  return {};
}

void SlicePipeline::RunThread(size_t parser) noexcept {
  try {
    Loop(parser, *parsers_[parser]);
  } catch (const std::exception& failure) {
    Fail({base::ErrorCode::kFailed, std::string("out of resources: ") + failure.what(),
          "give the process more memory, or cut the trace to fewer steps"});
  }
}

void SlicePipeline::Loop(size_t parser, EventParser& event_parser) {
  int64_t sequence = 0;
  while (std::unique_ptr<Work> work = TakeNext(sequence)) {
    work->parser = parser;
    work->batch.Clear();
    work->outcome = {};
    Slice& slice = work->slice;
    if (slice.parse_size > 0) {
      work->outcome = event_parser.Parse(slice.text(), slice.parse_size, slice.offset, work->batch);
    } else {
      work->outcome.ok = slice.size == 0;
    }
    event_parser.TakeDelta(work->batch);
    Merge(sequence, std::move(work));
  }
}

std::unique_ptr<SlicePipeline::Work> SlicePipeline::TakeNext(int64_t& sequence) {
  const std::lock_guard<std::mutex> lock(source_mutex_);
  if (source_done_) return nullptr;
  std::unique_ptr<Work> work = TakeFree();
  if (work == nullptr) return nullptr;
  if (options_.stop != nullptr && options_.stop->requested()) {
    Fail(base::Interrupted());
    return nullptr;
  }
  if (base::Status status = slices_.Next(work->slice); !status.ok()) {
    Fail(std::move(status).error());
    return nullptr;
  }
  if (options_.progress) options_.progress(source_.bytes_consumed());
  source_done_ = work->slice.last;
  sequence = next_sequence_++;
  return work;
}

/// Waits for a free one: the thread whose slice is next to be merged never waits here, since it
/// already holds its own.
std::unique_ptr<SlicePipeline::Work> SlicePipeline::TakeFree() {
  std::unique_lock<std::mutex> lock(state_mutex_);
  freed_.wait(lock, [this] { return !free_.empty() || error_.has_value(); });
  if (error_) return nullptr;
  std::unique_ptr<Work> work = std::move(free_.back());
  free_.pop_back();
  return work;
}

/// Puts the slice in line; if nobody merges at the moment, merges all that is next in file order.
void SlicePipeline::Merge(int64_t sequence, std::unique_ptr<Work> work) {
  std::unique_lock<std::mutex> lock(state_mutex_);
  ready_.emplace(sequence, std::move(work));
  if (merging_) return;
  merging_ = true;
  while (!ready_.empty() && ready_.begin()->first == next_to_merge_ && !error_) {
    std::unique_ptr<Work> next = std::move(ready_.begin()->second);
    ready_.erase(ready_.begin());
    lock.unlock();
    merger_.Take(next->parser, next->slice, next->batch, next->outcome);
    lock.lock();
    ++next_to_merge_;
    free_.push_back(std::move(next));
    freed_.notify_all();
  }
  merging_ = false;
}

void SlicePipeline::Fail(base::Error error) {
  {
    const std::lock_guard<std::mutex> lock(state_mutex_);
    if (!error_) error_ = std::move(error);
  }
  freed_.notify_all();
}

}  // namespace layerscope::ingest::kineto
