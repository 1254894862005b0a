#include "src/session/recording_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "src/base/format_number.h"

namespace layerscope::session {
namespace {

/// Folders that a message names.
constexpr size_t kFoldersInMessage = 8;

/// "a, b, 3 more".
std::string FolderList(std::vector<std::string> folders) {
  const size_t n = folders.size();
  if (n > kFoldersInMessage) {
    folders.resize(kFoldersInMessage);
    folders.push_back(fmt::format("{} more", n - kFoldersInMessage));
  }
  return fmt::format("{}", fmt::join(folders, ", "));
}

/// That files are taken for recordings one after the other is a reading of how they lie.
void NoteReading(const std::vector<std::string>& recordings, LoadedRun& run) {
  run.health.push_back(
      {"recordings", table::Severity::kInfo, static_cast<int64_t>(recordings.size()),
       fmt::format("The files of {} are taken for recordings of one run, one after the other.",
                   FolderList(recordings))});
}

/// The classes of a recording's root modules, and that of the root with most modules below it.
struct Roots {
  std::string main;
  std::set<std::string> all;
  size_t n_modules = 0;  ///< of `main`
};

void AddRoots(const LoadedRank& rank, Roots& roots) {
  const attribution::ModuleTree& tree = rank.attribution->modules;
  // Pre-order: a root's modules stand behind it, up to the next root.
  size_t end = tree.modules.size();
  for (size_t i = end; i > 0; --i) {
    if (tree.modules[i - 1].parent.valid()) continue;
    const std::string name(tree.ClassOf(attribution::ModuleId(i - 1), *rank.trace));
    roots.all.insert(name);
    if (end - (i - 1) >= roots.n_modules) {
      roots.main = name;
      roots.n_modules = end - (i - 1);
    }
    end = i - 1;
  }
}

/// What one recording alone has for a root, the other may have under another.
bool AreOfDifferentModels(const Roots& a, const Roots& b) {
  return !a.all.empty() && !b.all.empty() && a.all.count(b.main) == 0 && b.all.count(a.main) == 0;
}

void NoteModels(const std::vector<std::string>& recordings, LoadedRun& run) {
  std::map<std::string, Roots> roots;
  for (const LoadedRank& rank : run.ranks) AddRoots(rank, roots[rank.recording]);
  const auto first =
      std::find_if(recordings.begin(), recordings.end(),
                   [&](const std::string& folder) { return !roots[folder].all.empty(); });
  if (first == recordings.end()) return;
  std::string other;
  int64_t n_others = 0;
  for (const std::string& folder : recordings) {
    if (!AreOfDifferentModels(roots[*first], roots[folder])) continue;
    if (n_others++ == 0) other = folder;
  }
  if (n_others == 0) return;
  run.health.push_back(
      {"recordings_differ", table::Severity::kWarning, n_others,
       fmt::format("The recordings are of different models: {} of {}, {} of {}{}. What is joined "
                   "over all of them mixes both; name the folders of one model.",
                   *first, roots[*first].main, other, roots[other].main,
                   n_others > 1 ? fmt::format(", and {} more", n_others - 1) : "")});
}

bool HaveSameEvents(const trace::Trace& a, const trace::Trace& b) {
  return a.activities.start_ns == b.activities.start_ns &&
         a.activities.dur_ns == b.activities.dur_ns && a.calls.start_ns == b.calls.start_ns &&
         a.ops.start_ns == b.ops.start_ns && a.annotations.start_ns == b.annotations.start_ns;
}

/// No two recordings agree in all times to the nanosecond: one is a copy of the other.
void NoteRepeats(LoadedRun& run) {
  using Key = std::tuple<int64_t, int64_t, int64_t, size_t>;
  std::map<Key, const LoadedRank*> seen;
  const LoadedRank* copy = nullptr;
  const LoadedRank* original = nullptr;
  int64_t n = 0;
  for (const LoadedRank& rank : run.ranks) {
    const trace::Trace& trace = *rank.trace;
    const Key key{rank.t0_ns, rank.span_ns, trace.counts.n_events, trace.activities.size()};
    const auto [at, is_new] = seen.emplace(key, &rank);
    if (is_new || at->second->recording == rank.recording) continue;
    if (!HaveSameEvents(*at->second->trace, trace)) continue;
    if (n++ > 0) continue;
    original = at->second;
    copy = &rank;
  }
  if (n == 0) return;
  run.health.push_back(
      {"recordings_repeat", table::Severity::kWarning, n,
       fmt::format("{} as one of another recording ({} as {}): what is joined counts both; leave "
                   "one out.",
                   base::FormatCounted(n, "file holds the same events",
                                       "files hold the same "
                                       "events"),
                   copy->path, original->path)});
}

}  // namespace

void NoteFolders(const std::vector<InputFile>& files, LoadedRun& run) {
  for (const InputFile& file : files) {
    if (!file.unread_folders.empty()) {
      run.health.push_back(
          {"folders_not_read", table::Severity::kWarning,
           static_cast<int64_t>(file.unread_folders.size()),
           fmt::format("Traces beside {} were read, those in the folders there were not: {}.",
                       file.path, FolderList(file.unread_folders))});
    }
    if (!file.unlisted_folders.empty()) {
      run.health.push_back({"folders_not_listed", table::Severity::kWarning,
                            static_cast<int64_t>(file.unlisted_folders.size()),
                            fmt::format("Folders that cannot be listed were left out: {}.",
                                        FolderList(file.unlisted_folders))});
    }
  }
}

void NoteRecordings(LoadedRun& run) {
  std::vector<std::string> recordings;
  for (const LoadedRank& rank : run.ranks) {
    if (rank.recording.empty()) continue;
    const bool known =
        std::find(recordings.begin(), recordings.end(), rank.recording) != recordings.end();
    if (!known) recordings.push_back(rank.recording);
  }
  if (recordings.empty()) return;
  NoteReading(recordings, run);
  NoteModels(recordings, run);
  NoteRepeats(run);
}

}  // namespace layerscope::session
