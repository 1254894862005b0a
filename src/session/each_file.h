#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/session/input_files.h"
#include "src/session/loaded_run.h"
#include "src/session/parallel.h"

namespace layerscope::session {

/// Runs `work`; what it throws (memory, the standard library) becomes an error.
template <typename Work>
std::optional<base::Error> Guarded(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return base::Error{base::ErrorCode::kFailed, "not enough memory",
                       "read fewer ranks at a time, or a smaller part of the trace"};
  } catch (const std::exception& error) {
    return base::Error{base::ErrorCode::kFailed, error.what(), {}};
  }
}

/// Runs `work` on every file; the error of the first file in order wins, with its name in front.
template <typename Work>
base::Status ForEachFile(const std::vector<InputFile>& files, int threads, Work work) {
  std::vector<std::optional<base::Error>> errors(files.size());
  ForEachInParallel(files.size(), threads,
                    [&](size_t i) { errors[i] = Guarded([&] { return work(i); }); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (!errors[i]) continue;
    const std::string& message = errors[i]->message;
    const bool is_named = files.size() == 1 ? message.find(files[i].path) != std::string::npos
                                            : message.starts_with("reading " + files[i].path + ":");
    if (is_named) return *std::move(errors[i]);
    const std::string name = files[i].path == "-" ? "standard input" : files[i].path;
    return (*std::move(errors[i])).WithContext("reading " + name);
  }
  return {};
}

/// Runs `work(i)` for every rank, one thread a rank.
template <typename Work>
base::Status ForEachRank(const LoadedRun& run, const LoadOptions& options, Work work) {
  std::vector<InputFile> files;
  for (const LoadedRank& rank : run.ranks) files.push_back({rank.path, {}, -1, false});
  return ForEachFile(files, options.threads, work);
}

}  // namespace layerscope::session
