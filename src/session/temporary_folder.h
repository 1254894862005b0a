#pragma once

#include <string>

#include "src/base/result.h"

namespace layerscope::session {

/// A folder of our own, for files that nobody but us is to see; it goes away with this.
class TemporaryFolder {
 public:
  /// In $TMPDIR, else /tmp. kFailed when nothing can be written there.
  static base::Result<TemporaryFolder> Create();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  ///< empty: given away
};

}  // namespace layerscope::session
