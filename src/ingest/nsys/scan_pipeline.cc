#include "src/ingest/nsys/scan_pipeline.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace layerscope::ingest::nsys {
namespace {

/// Batches that may wait for the merger, for each thread.
constexpr size_t kBatchesPerThread = 3;

}  // namespace

ScanPipeline::ScanPipeline(std::vector<ScanTask> tasks, BatchMerger& merger, Options options)
    : tasks_(std::move(tasks)), merger_(merger), options_(std::move(options)) {}

base::Status ScanPipeline::Run() {
  std::vector<std::thread> threads;
  const size_t n_threads = std::min(options_.n_threads, tasks_.size());
  try {
    for (size_t i = 1; i < n_threads; ++i) threads.emplace_back([this] { RunThread(false); });
  } catch (const std::system_error&) {
    // The system grants no more threads: the ones that run do all the work.
  }
  RunThread(true);
  for (std::thread& thread : threads) thread.join();
  if (error_) return std::move(*error_);
  return {};
}

void ScanPipeline::RunThread(bool is_first) noexcept {
  try {
    Loop(is_first);
  } catch (const std::exception& failure) {
    Fail({base::ErrorCode::kFailed, std::string("out of resources: ") + failure.what(),
          "give the process more memory, or record fewer steps"});
  }
}

void ScanPipeline::Loop(bool is_first) {
  auto database = Database::Open(options_.path, options_.database);
  if (!database.ok()) return is_first ? Fail(std::move(database).error()) : void();
  while (const std::optional<size_t> next = TakeNext()) {
    const ScanTask& task = tasks_[*next];
    Batch batch;
    TableScan scan(*database, *task.query, task.range, batch.ledger);
    while (scan.Next()) task.read(scan.row(), batch);
    if (scan.end() != Step::kDone) return Fail(ErrorOf(scan.end()));
    batch.n_rows = scan.n_rows();
    Merge(*next, std::move(batch));
  }
}

std::optional<size_t> ScanPipeline::TakeNext() {
  std::unique_lock<std::mutex> lock(mutex_);
  // The thread whose task is next to be merged never waits here: it holds that task.
  merged_.wait(lock, [this] {
    return error_ || next_ == tasks_.size() ||
           next_ < n_merged_ + kBatchesPerThread * options_.n_threads;
  });
  if (error_ || next_ == tasks_.size()) return std::nullopt;
  if (options_.database.stop != nullptr && options_.database.stop->requested()) {
    error_ = base::Interrupted();
    merged_.notify_all();
    return std::nullopt;
  }
  return next_++;
}

void ScanPipeline::Merge(size_t task, Batch batch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ready_.emplace(task, std::move(batch));
  while (!ready_.empty() && ready_.begin()->first == n_merged_) {
    merger_.Add(tasks_[n_merged_].query->table(), ready_.begin()->second);
    ready_.erase(ready_.begin());
    ++n_merged_;
  }
  if (options_.progress) options_.progress(n_merged_);
  merged_.notify_all();
}

void ScanPipeline::Fail(base::Error error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::move(error);
  merged_.notify_all();
}

}  // namespace layerscope::ingest::nsys
