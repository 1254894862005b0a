#include "src/session/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>

// POSIX declares it in no header.
extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace layerscope::session {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{20};
/// What a program that was asked to end has for cleaning up, before it is made to.
constexpr milliseconds kGrace{2000};
constexpr int kPrivateFile = 0600;
constexpr int kSignalBase = 128;

/// How a child is started: in a group of its own, so that all of it can be ended, with its three
/// streams away from ours and without the signals that we ignore.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::string& log) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     kPrivateFile);
    posix_spawn_file_actions_adddup2(&files_, 1, 2);
    posix_spawnattr_init(&attributes_);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Zero, or why it could not be started.
  int Spawn(std::vector<std::string> arguments, pid_t& child) const {
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    return posix_spawnp(&child, words.front(), &files_, &attributes_, words.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

/// The exit status once the child has ended; absent while it runs.
std::optional<int> StatusOf(pid_t child) {
  int status = 0;
  const pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  if (ended < 0) return kSignalBase;
  if (WIFSIGNALED(status)) return kSignalBase + WTERMSIG(status);
  return WEXITSTATUS(status);
}

/// Whether the child has ended; it is not waited for, so that its group's number stays its own.
bool HasEnded(pid_t child) {
  siginfo_t info{};
  const int flags = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(child), &info, flags) == 0 && info.si_pid == child;
}

/// Ends the child's whole group: what the child started may outlive it and ignore SIGTERM.
void End(pid_t child) {
  kill(-child, SIGTERM);
  for (milliseconds waited{0}; waited < kGrace && !HasEnded(child); waited += kBetweenLooks) {
    std::this_thread::sleep_for(kBetweenLooks);
  }
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

/// posix_spawnp's answers where no folder of PATH has the program: a folder that may not be read,
/// or that is none, hides nothing.
bool IsAbsent(int problem) {
  return problem == ENOENT || problem == EACCES || problem == ENOTDIR;
}

}  // namespace

base::Result<ChildExit> RunChild(const std::vector<std::string>& arguments, const std::string& log,
                                 const base::StopFlag* stop) {
  pid_t child = 0;
  const int problem = SpawnSettings(log).Spawn(arguments, child);
  if (IsAbsent(problem)) return ChildExit{false, 0};
  if (problem != 0) {
    return base::Error{base::ErrorCode::kFailed,
                       fmt::format("{} cannot be started: {}", arguments.front(),
                                   std::generic_category().message(problem)),
                       "check its permissions and the limits of this shell (ulimit -a)"};
  }
  for (;;) {
    if (const std::optional<int> status = StatusOf(child)) return ChildExit{true, *status};
    if (stop != nullptr && stop->requested()) {
      End(child);
      return base::Interrupted();
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace layerscope::session
