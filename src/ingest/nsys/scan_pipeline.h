#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/ingest/nsys/batch_merger.h"
#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/tables.h"

namespace layerscope::ingest::nsys {

/// One range of one table.
struct ScanTask {
  const TableQuery* query = nullptr;
  void (*read)(Row& row, Batch& batch) = nullptr;
  RowRange range;
};

/// Steps through ranges on several threads, each with a connection of its own, and merges what
/// comes out in the order of the tasks: the result does not depend on the number of threads. No
/// thread runs far ahead of the merger, so that memory holds few batches.
class ScanPipeline {
 public:
  struct Options {
    std::string path;
    Database::Options database;
    size_t n_threads = 1;
    /// Told how many of the tasks are merged; one call at a time.
    std::function<void(size_t)> progress;
  };
  ScanPipeline(std::vector<ScanTask> tasks, BatchMerger& merger, Options options);

  /// kCancelled when stopped.
  base::Status Run();

 private:
  void RunThread(bool is_first) noexcept;
  /// A thread that cannot open the file leaves the work to the first, whose failure counts.
  void Loop(bool is_first);
  /// Waits until the next task may begin; nullopt at the end or after a failure.
  std::optional<size_t> TakeNext();
  void Merge(size_t task, Batch batch);
  void Fail(base::Error error);

  const std::vector<ScanTask> tasks_;
  BatchMerger& merger_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable merged_;
  size_t next_ = 0;
  size_t n_merged_ = 0;
  std::map<size_t, Batch> ready_;
  std::optional<base::Error> error_;
};

}  // namespace layerscope::ingest::nsys
