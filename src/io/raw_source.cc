#include "src/io/raw_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/nearest.h"
#include "src/io/list_directory.h"

namespace layerscope::io {
namespace {

base::Error InvalidInput(const std::string& path, const std::string& what, std::string hint) {
  return {base::ErrorCode::kInvalidInput, "reading " + path + ": " + what, std::move(hint)};
}

std::string ErrnoText(int error_number) {
  return std::generic_category().message(error_number);
}

/// "; did you mean '…'?" from the other files of the missing one's directory.
std::string NearestFile(const std::string& path) {
  const std::filesystem::path wanted(path);
  const std::string parent = wanted.has_parent_path() ? wanted.parent_path().string() : ".";
  const base::Result<std::vector<DirectoryEntry>> entries = ListDirectory(parent);
  if (!entries.ok()) return {};
  std::vector<std::string> names;
  names.reserve(entries->size());
  for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
  return base::DidYouMean(wanted.filename().string(), names);
}

base::Error OpenError(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return InvalidInput(path, "no such file" + NearestFile(path), "check the path");
    case EACCES:
    case EPERM:
      return InvalidInput(path, "permission denied", "make it readable: chmod u+r " + path);
    default:
      return InvalidInput(path, ErrnoText(error_number), "");
  }
}

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, std::string path, int64_t total)
      : fd_(fd), path_(std::move(path)), total_(total) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }

  base::Result<size_t> Read(std::span<char> out) override {
    size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t got = ::read(fd_, out.data() + filled, out.size() - filled);
      if (got == 0) break;
      if (got > 0) {
        filled += static_cast<size_t>(got);
      } else if (errno != EINTR) {
        return InvalidInput(path_, ErrnoText(errno), "check the disk or the network mount");
      }
    }
    consumed_ += static_cast<int64_t>(filled);
    return filled;
  }
  int64_t bytes_consumed() const override { return consumed_; }
  int64_t bytes_total() const override { return total_; }

 private:
  int fd_;
  std::string path_;
  int64_t total_;
  int64_t consumed_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  base::Result<size_t> Read(std::span<char> out) override {
    const size_t count = std::min(out.size(), bytes_.size() - position_);
    std::copy_n(bytes_.data() + position_, count, out.data());
    position_ += count;
    return count;
  }
  int64_t bytes_consumed() const override { return static_cast<int64_t>(position_); }
  int64_t bytes_total() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<ByteSource>> OpenRawFile(const std::string& path) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "stdin" : path;
  const int fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return OpenError(path, errno);
  struct stat info = {};
  const bool known = ::fstat(fd, &info) == 0;
  const bool is_regular = known && S_ISREG(info.st_mode);
  auto source =
      std::make_unique<FileSource>(fd, name, is_regular ? static_cast<int64_t>(info.st_size) : -1);
  if (known && S_ISDIR(info.st_mode)) {
    return InvalidInput(name, "it is a directory, not a file", "name one of the files in it");
  }
  // Advice only: pipes refuse it, and nothing depends on it.
  static_cast<void>(::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
  return std::unique_ptr<ByteSource>(std::move(source));
}

std::unique_ptr<ByteSource> OpenRawMemory(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

base::Result<size_t> PlainSource::Read(std::span<char> out) {
  const size_t buffered = std::min(out.size(), input_.size());
  std::copy_n(input_.data(), buffered, out.data());
  input_.SeekTo(input_.data() + buffered);
  if (buffered == out.size()) return buffered;
  base::Result<size_t> rest = input_.raw().Read(out.subspan(buffered));
  if (!rest.ok()) return rest;
  return buffered + *rest;
}

}  // namespace layerscope::io
