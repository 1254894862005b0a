#include "src/io/atomic_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace layerscope::io {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr int kMaxNames = 1000;
constexpr mode_t kPermissionBits = 07777;

base::Error WriteError(const std::string& path, const std::string& what, std::string hint) {
  return {base::ErrorCode::kFailed, "writing " + path + ": " + what, std::move(hint)};
}

base::Error SystemError(const std::string& path, int error_number) {
  std::string hint;
  if (error_number == ENOENT || error_number == ENOTDIR) hint = "make its directory first";
  if (error_number == EACCES || error_number == EROFS) {
    hint = "choose a directory that you may write to";
  }
  if (error_number == ENOSPC || error_number == EDQUOT) hint = "free some space on that disk";
  return WriteError(path, std::generic_category().message(error_number), std::move(hint));
}

/// A new file beside `target`, made with the permissions that the umask allows. -1 with errno set.
int CreateAside(const std::string& target, std::string* aside) {
  for (int n = 0; n < kMaxNames; ++n) {
    *aside = target + "." + std::to_string(::getpid()) + "." + std::to_string(n) + ".tmp";
    const int fd = ::open(aside->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

base::Result<AtomicOutput> AtomicOutput::Create(const std::string& path) {
  if (path.empty()) {
    return base::UsageError("the name of the output is empty",
                            "name a file, or leave -o out for standard output");
  }
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return WriteError(path, "it is a directory", "name a file in it");
  }
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return SystemError(path, errno);
    return AtomicOutput(path, path, "", fd);
  }
  std::string target = path;
  if (exists) {
    std::error_code error;
    const std::filesystem::path resolved = std::filesystem::canonical(path, error);
    if (!error) target = resolved.string();
  }
  std::string aside;
  const int fd = CreateAside(target, &aside);
  if (fd < 0) return SystemError(path, errno);
  // Failing to copy the old permissions leaves those of the umask, which are no wider than asked.
  if (exists) static_cast<void>(::fchmod(fd, info.st_mode & kPermissionBits));
  return AtomicOutput(path, std::move(target), std::move(aside), fd);
}

AtomicOutput::AtomicOutput(std::string path, std::string target, std::string aside, int fd)
    : path_(std::move(path)), target_(std::move(target)), aside_(std::move(aside)), fd_(fd) {}

AtomicOutput::AtomicOutput(AtomicOutput&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      aside_(std::exchange(other.aside_, {})),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

AtomicOutput::~AtomicOutput() {
  if (fd_ >= 0) ::close(fd_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

base::Status AtomicOutput::Write(std::string_view bytes) {
  LS_CHECK(fd_ >= 0, "write after commit");
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return {};
  }
  if (base::Status status = WriteThrough(buffer_); !status.ok()) return status;
  buffer_.clear();
  if (bytes.size() >= kBufferBytes) return WriteThrough(bytes);
  buffer_.append(bytes);
  return {};
}

base::Status AtomicOutput::Commit() {
  LS_CHECK(fd_ >= 0, "commit twice");
  if (base::Status status = WriteThrough(buffer_); !status.ok()) return status;
  buffer_.clear();
  // Network file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) return SystemError(path_, errno);
  if (aside_.empty()) return {};
  if (::rename(aside_.c_str(), target_.c_str()) != 0) return SystemError(path_, errno);
  aside_.clear();
  return {};
}

base::Result<std::string> AtomicOutput::ReadablePath() {
  LS_CHECK(fd_ >= 0, "nothing to read after commit");
  if (base::Status status = WriteThrough(buffer_); !status.ok()) return std::move(status).error();
  buffer_.clear();
  return aside_;
}

base::Status AtomicOutput::WriteThrough(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return SystemError(path_, errno);
    }
  }
  return {};
}

}  // namespace layerscope::io
