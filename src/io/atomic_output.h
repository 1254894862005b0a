#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::io {

/// A file that appears whole or not at all: written aside in the same directory and renamed by
/// Commit(); without Commit() the destructor removes it and an older file of that name stays as it
/// was. New files get the permissions the umask allows, replaced ones keep theirs, links are
/// followed. What cannot be replaced (a pipe, /dev/null) is written directly.
class AtomicOutput {
 public:
  /// kFailed with a hint when the target is a directory or its directory cannot be written; kUsage
  /// for an empty name.
  static base::Result<AtomicOutput> Create(const std::string& path);

  AtomicOutput(AtomicOutput&& other) noexcept;
  AtomicOutput& operator=(AtomicOutput&&) = delete;
  ~AtomicOutput();

  /// Buffered. kFailed when the disk is full or fails; the output is then lost.
  base::Status Write(std::string_view bytes);
  /// Makes the file appear under its name. Call once; afterwards nothing more is written.
  base::Status Commit();
  /// Before Commit: everything written so far can be read under the path returned. Empty for what
  /// cannot be read back (a pipe, /dev/null).
  base::Result<std::string> ReadablePath();

 private:
  AtomicOutput(std::string path, std::string target, std::string aside, int fd);
  base::Status WriteThrough(std::string_view bytes);

  std::string path_;    ///< as the caller named it, for messages
  std::string target_;  ///< where it ends up: `path_` with links followed
  std::string aside_;   ///< the file that is written; empty when `target_` is written directly
  int fd_ = -1;
  std::string buffer_;
};

}  // namespace layerscope::io
