#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/result.h"

namespace layerscope::io {

/// One regular file of a directory.
struct DirectoryEntry {
  std::string name;  ///< without the directory
  int64_t bytes = 0;
};

/// The regular files (links to files included) directly in `path`, sorted by name as bytes; not its
/// subdirectories. kInvalidInput when it does not exist, is no directory, or cannot be read.
base::Result<std::vector<DirectoryEntry>> ListDirectory(const std::string& path);

/// The names of the directories (links to such included) directly in `path`, sorted as bytes.
/// Errors as of ListDirectory.
base::Result<std::vector<std::string>> ListFolders(const std::string& path);

}  // namespace layerscope::io
