#include "src/io/list_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace layerscope::io {
namespace {

base::Error CannotList(const std::string& path, const std::error_code& error) {
  return {base::ErrorCode::kInvalidInput, "listing " + path + ": " + error.message(),
          "give a directory that exists and that you may read"};
}

/// Calls `look` with everything that lies directly in `path`.
template <typename Look>
base::Status ForEachEntry(const std::string& path, Look look) {
  std::error_code error;
  std::filesystem::directory_iterator position(path, error);
  if (error) return CannotList(path, error);
  while (position != std::filesystem::directory_iterator()) {
    look(*position);
    position.increment(error);
    if (error) return CannotList(path, error);
  }
  return {};
}

}  // namespace

base::Result<std::vector<DirectoryEntry>> ListDirectory(const std::string& path) {
  std::vector<DirectoryEntry> entries;
  base::Status listed = ForEachEntry(path, [&](const std::filesystem::directory_entry& entry) {
    // A file that vanished or that may not be looked at is no regular file for our purpose.
    std::error_code ignored;
    if (!entry.is_regular_file(ignored)) return;
    const uintmax_t bytes = entry.file_size(ignored);
    entries.push_back(
        {entry.path().filename().string(), ignored ? 0 : static_cast<int64_t>(bytes)});
  });
  if (!listed.ok()) return std::move(listed).error();
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

base::Result<std::vector<std::string>> ListFolders(const std::string& path) {
  std::vector<std::string> names;
  base::Status listed = ForEachEntry(path, [&](const std::filesystem::directory_entry& entry) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
  });
  if (!listed.ok()) return std::move(listed).error();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace layerscope::io
