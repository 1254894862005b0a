#include "src/io/list_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace layerscope::io {
namespace {

base::Error CannotList(const std::string& path, const std::error_code& error) {
  return {base::ErrorCode::kInvalidInput, "listing " + path + ": " + error.message(),
          "give a directory that exists and that you may read"};
}

}  // namespace

base::Result<std::vector<DirectoryEntry>> ListDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::directory_iterator position(path, error);
  if (error) return CannotList(path, error);
  std::vector<DirectoryEntry> entries;
  while (position != std::filesystem::directory_iterator()) {
    // A file that vanished or that may not be looked at is no regular file for our purpose.
    std::error_code ignored;
    if (position->is_regular_file(ignored)) {
      const uintmax_t bytes = position->file_size(ignored);
      entries.push_back(
          {position->path().filename().string(), ignored ? 0 : static_cast<int64_t>(bytes)});
    }
    position.increment(error);
    if (error) return CannotList(path, error);
  }
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace layerscope::io
