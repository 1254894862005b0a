#include "src/session/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/shell_quote.h"
#include "src/document/requests/metadata.h"
#include "src/ingest/nsys/reader.h"
#include "src/io/list_directory.h"
#include "src/session/input_kind.h"
#include "src/session/own_document.h"
#include "src/session/rank_name.h"
#include "src/session/side_file_name.h"
#include "src/session/workload.h"

namespace layerscope::session {
namespace {

namespace fs = std::filesystem;

/// Folders that a message names.
constexpr size_t kFoldersInMessage = 4;

base::Error Invalid(std::string message, std::string hint) {
  return {base::ErrorCode::kInvalidInput, std::move(message), std::move(hint)};
}

/// The ranks of one pipeline stage, from the coordinates in all names.
int64_t TpSize(const std::vector<RankName>& names) {
  int64_t size = 0;
  for (const RankName& name : names) {
    if (name.tp) size = std::max(size, *name.tp + 1);
  }
  return size;
}

/// A file's name up to its last dot.
std::string_view Stem(std::string_view name) {
  return name.substr(0, name.rfind('.'));
}

/// What lies beside traces by its name, and is none: documents, and the files of a model's folder
/// (the names under which transformers saves them).
bool IsKnownDocument(std::string_view name) {
  constexpr std::array<std::string_view, 17> kDocuments = {"request_metadata.json",
                                                           "per_request_profiles.json",
                                                           "model_execution.json",
                                                           "workload_data.json",
                                                           "config.json",
                                                           "generation_config.json",
                                                           "tokenizer.json",
                                                           "tokenizer_config.json",
                                                           "special_tokens_map.json",
                                                           "added_tokens.json",
                                                           "vocab.json",
                                                           "chat_template.json",
                                                           "preprocessor_config.json",
                                                           "processor_config.json",
                                                           "video_preprocessor_config.json",
                                                           "hf_quant_config.json",
                                                           "model.safetensors.index.json"};
  const std::string_view plain = name.substr(0, name.rfind(".json") + 5);
  return std::find(kDocuments.begin(), kDocuments.end(), plain) != kDocuments.end() ||
         ParseSideName(name).has_value();
}

/// Files that may hold a recording, by their names. A report whose database lies beside it is the
/// same recording, so the database alone is taken.
std::vector<io::DirectoryEntry> RecordingsAmong(const std::vector<io::DirectoryEntry>& entries) {
  std::set<std::string_view> databases;
  for (const io::DirectoryEntry& entry : entries) {
    if (IsDatabaseName(entry.name)) databases.insert(Stem(entry.name));
  }
  std::vector<io::DirectoryEntry> found;
  for (const io::DirectoryEntry& entry : entries) {
    const bool is_report = IsReportName(entry.name);
    if (is_report && databases.count(Stem(entry.name)) != 0) continue;
    if (is_report || IsTraceName(entry.name) || IsDatabaseName(entry.name)) found.push_back(entry);
  }
  return found;
}

base::Error HoldsNone(const std::string& path, std::string hint) {
  if (!WorkloadFilesIn(path).empty()) {
    hint = fmt::format(
        "results of benchmarks or metrics lie in it: `layerscope workload {0}` reads them, "
        "`layerscope view {0}` shows them",
        base::ShellQuoted(path));
  }
  return Invalid(
      fmt::format("'{}' holds no trace (*.json, *.json.gz, *.json.zst, *.sqlite, *.nsys-rep)",
                  path),
      std::move(hint));
}

/// Traces that have nothing to do with each other, by name.
base::Result<std::vector<InputFile>> RunsOfDirectory(const std::string& path) {
  base::Result<std::vector<io::DirectoryEntry>> entries = io::ListDirectory(path);
  if (!entries.ok()) return std::move(entries).error();
  std::vector<InputFile> files;
  for (const io::DirectoryEntry& entry : RecordingsAmong(*entries)) {
    if (IsKnownDocument(entry.name)) continue;
    files.push_back({(fs::path(path) / entry.name).string(), std::nullopt, entry.bytes, true});
  }
  // Results of benchmarks and our own documents, under whatever name, lie beside traces, or alone.
  std::erase_if(files, [](const InputFile& file) {
    return IsOwnDocument(file.path) || IsWorkloadFile(file.path);
  });
  if (!files.empty()) return files;
  return HoldsNone(path, "name the directory that holds one trace a request");
}

/// Databases of other programs are no traces; a file alone in its directory is read, to say what it
/// is.
void LeaveOutForeign(std::vector<InputFile>& files) {
  if (files.size() < 2) return;
  std::erase_if(files, [](const InputFile& file) {
    return IsDatabaseName(file.path) && !ingest::nsys::MayBeExport(file.path);
  });
}

/// The traces among the files of a directory. Captures, annotations and model trees that lie beside
/// them are no ranks of the run; a directory of captures alone is looked at for itself.
std::vector<io::DirectoryEntry> TracesAmong(const std::vector<io::DirectoryEntry>& entries) {
  std::vector<io::DirectoryEntry> traces;
  std::vector<io::DirectoryEntry> captures;
  for (const io::DirectoryEntry& entry : RecordingsAmong(entries)) {
    const std::optional<SideName> side = ParseSideName(entry.name);
    if (!IsKnownDocument(entry.name)) traces.push_back(entry);
    if (side && side->kind == SideKind::kCapture) captures.push_back(entry);
  }
  return traces.empty() ? captures : traces;
}

/// What a directory holds of ranks, by name.
struct FolderTraces {
  std::vector<InputFile> ranked;
  std::vector<RankName> names;    ///< of `ranked`
  std::vector<InputFile> others;  ///< their names say no rank

  bool empty() const { return ranked.empty() && others.empty(); }
};

base::Result<FolderTraces> ListTraces(const std::string& path) {
  base::Result<std::vector<io::DirectoryEntry>> entries = io::ListDirectory(path);
  if (!entries.ok()) return std::move(entries).error();
  FolderTraces traces;
  for (const io::DirectoryEntry& entry : TracesAmong(*entries)) {
    InputFile file{(fs::path(path) / entry.name).string(), std::nullopt, entry.bytes, true};
    if (IsOwnDocument(file.path)) continue;
    const RankName name = ParseRankName(entry.name);
    if (name.known()) traces.names.push_back(name);
    (name.known() ? traces.ranked : traces.others).push_back(std::move(file));
  }
  if (traces.ranked.empty()) {
    LeaveOutForeign(traces.others);
    std::erase_if(traces.others, [](const InputFile& file) { return IsWorkloadFile(file.path); });
  }
  return traces;
}

/// One trace a request, as `layerscope-capture profile` leaves them.
bool AreRequests(const std::string& path, const std::vector<InputFile>& files) {
  std::error_code problem;
  if (fs::exists(fs::path(path) / std::string(document::kRequestMetadataName), problem)) {
    return true;
  }
  return std::all_of(files.begin(), files.end(), [](const InputFile& file) {
    return fs::path(file.path).filename().string().starts_with("request_");
  });
}

/// The ranks of one recording; `traces` is not empty.
base::Result<std::vector<InputFile>> RanksOf(const std::string& path, FolderTraces traces) {
  std::vector<InputFile>& ranked = traces.ranked;
  if (ranked.empty() && traces.others.size() == 1) return std::move(traces.others);
  if (ranked.empty()) {
    std::string hint = fmt::format("name one of them, for example {}", traces.others.front().path);
    if (AreRequests(path, traces.others)) {
      hint = fmt::format("`layerscope requests {}` reads one trace a request, or {}",
                         base::ShellQuoted(path), hint);
    }
    return Invalid(fmt::format("'{}' holds {} traces and none says its rank in its name", path,
                               traces.others.size()),
                   std::move(hint));
  }
  std::map<int64_t, std::string> seen;
  const int64_t tp_size = TpSize(traces.names);
  for (size_t i = 0; i < ranked.size(); ++i) {
    ranked[i].rank_from_name = RankOf(traces.names[i], tp_size);
    if (!ranked[i].rank_from_name) continue;
    const auto [at, is_new] = seen.emplace(*ranked[i].rank_from_name, ranked[i].path);
    if (is_new) continue;
    return Invalid(fmt::format("'{}' holds several traces of rank {}: {} and {}", path, at->first,
                               fs::path(at->second).filename().string(),
                               fs::path(ranked[i].path).filename().string()),
                   "several runs lie in this directory: name the files of one of them");
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const InputFile& a, const InputFile& b) {
    return a.rank_from_name < b.rank_from_name;
  });
  return std::move(ranked);
}

/// The folders in a directory that may hold traces; captures of graphs are none.
base::Result<std::vector<std::string>> FoldersIn(const std::string& path) {
  base::Result<std::vector<std::string>> names = io::ListFolders(path);
  if (!names.ok()) return names;
  std::vector<std::string> folders;
  for (const std::string& name : *names) {
    if (name == kCaptureFolder || name.starts_with('.')) continue;
    folders.push_back((fs::path(path) / name).string());
  }
  return folders;
}

using Folders = std::vector<std::pair<std::string, FolderTraces>>;

/// The folders of a directory that hold traces. `unlisted`: those that cannot be listed.
base::Result<Folders> ListRecordings(const std::string& path, std::vector<std::string>& unlisted) {
  base::Result<std::vector<std::string>> in_path = FoldersIn(path);
  if (!in_path.ok()) return std::move(in_path).error();
  Folders folders;
  for (std::string& folder : *in_path) {
    base::Result<FolderTraces> traces = ListTraces(folder);
    if (!traces.ok()) {
      unlisted.push_back(std::move(folder));
    } else if (!traces->empty()) {
      folders.emplace_back(std::move(folder), *std::move(traces));
    }
  }
  return folders;
}

/// Its name alone says that a file is a recording: a tokenizer is JSON too.
bool IsNamedRecording(const std::string& name) {
  if (IsKnownDocument(name)) return false;
  return IsDatabaseName(name) || IsReportName(name) || name.find(".trace.") != std::string::npos ||
         name.starts_with("trace.") || name.starts_with("request_") || ParseRankName(name).known();
}

/// Opens no file that is not named so: there may be many.
bool HoldsNamedRecording(const std::string& folder) {
  const base::Result<std::vector<io::DirectoryEntry>> entries = io::ListDirectory(folder);
  if (!entries.ok()) return false;
  const std::vector<io::DirectoryEntry> files = RecordingsAmong(*entries);
  return std::any_of(files.begin(), files.end(), [&folder](const io::DirectoryEntry& entry) {
    return IsNamedRecording(entry.name) && !IsOwnDocument((fs::path(folder) / entry.name).string());
  });
}

/// Folders of a directory with traces of its own that hold traces too. What cannot be listed is no
/// input.
std::vector<std::string> UnreadFolders(const std::string& path) {
  base::Result<std::vector<std::string>> folders = FoldersIn(path);
  if (!folders.ok()) return {};
  std::erase_if(*folders, [](const std::string& folder) { return !HoldsNamedRecording(folder); });
  return *std::move(folders);
}

base::Error AreRecordings(const std::string& path, const Folders& folders) {
  std::string names;
  for (size_t i = 0; i < std::min(folders.size(), kFoldersInMessage); ++i) {
    names += (i == 0 ? "" : ", ") + fs::path(folders[i].first).filename().string();
  }
  if (folders.size() > kFoldersInMessage) names += ", …";
  return Invalid(
      fmt::format("'{}' holds no trace itself but {} folders of traces ({}): recordings one after "
                  "the other, which this verb does not read together",
                  path, folders.size(), names),
      fmt::format("name one of them, for example {}; `layerscope steps {}` reads all",
                  base::ShellQuoted(folders.front().first), base::ShellQuoted(path)));
}

base::Result<std::vector<InputFile>> RanksOfDirectory(const std::string& path, InputSet set) {
  base::Result<FolderTraces> traces = ListTraces(path);
  if (!traces.ok()) return std::move(traces).error();
  if (!traces->empty()) {
    base::Result<std::vector<InputFile>> ranks = RanksOf(path, *std::move(traces));
    if (ranks.ok()) ranks->front().unread_folders = UnreadFolders(path);
    return ranks;
  }
  std::vector<std::string> unlisted;
  base::Result<Folders> folders = ListRecordings(path, unlisted);
  if (!folders.ok()) return std::move(folders).error();
  if (folders->empty()) {
    return HoldsNone(path, unlisted.empty() ? "name the trace file itself"
                                            : fmt::format("{} cannot be listed", unlisted.front()));
  }
  const bool several = folders->size() > 1;
  if (several && set != InputSet::kRecordings) return AreRecordings(path, *folders);
  std::vector<InputFile> files;
  for (auto& [folder, of_folder] : *folders) {
    base::Result<std::vector<InputFile>> ranks = RanksOf(folder, std::move(of_folder));
    if (!ranks.ok()) return std::move(ranks).error();
    for (InputFile& file : *ranks) {
      if (several) file.recording = folder;
      files.push_back(std::move(file));
    }
  }
  files.front().unlisted_folders = std::move(unlisted);
  return files;
}

std::string FolderOf(const InputFile& file) {
  const std::string folder = fs::path(file.path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Files of the same ranks in several folders, each rank once in each.
bool RanksRepeatByFolder(const std::vector<InputFile>& files) {
  std::set<std::pair<std::string, int64_t>> in_folder;
  std::set<int64_t> ranks;
  for (const InputFile& file : files) {
    if (!file.rank_from_name) return false;
    if (!in_folder.emplace(FolderOf(file), *file.rank_from_name).second) return false;
    ranks.insert(*file.rank_from_name);
  }
  return ranks.size() < files.size();
}

/// Recordings that are named one by one are told apart as those of a directory are.
void MarkRecordings(std::vector<InputFile>& files) {
  const bool any = std::any_of(files.begin(), files.end(),
                               [](const InputFile& file) { return !file.recording.empty(); });
  if (!any && !RanksRepeatByFolder(files)) return;
  for (InputFile& file : files) {
    if (file.recording.empty()) file.recording = FolderOf(file);
  }
}

InputFile FileOf(const std::string& path) {
  InputFile file;
  file.path = path;
  if (path == "-") return file;
  const std::string name = fs::path(path).filename().string();
  file.rank_from_name = RankOf(ParseRankName(name), 0);
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (!error) file.bytes = static_cast<int64_t>(bytes);
  return file;
}

}  // namespace

base::Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& arguments,
                                                    InputSet set) {
  if (arguments.empty()) {
    return base::Error{base::ErrorCode::kUsage, "no input given",
                       "give a trace file, a directory of ranks, or - for standard input"};
  }
  std::vector<InputFile> files;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (argument == "-" || !fs::is_directory(argument, error)) {
      files.push_back(FileOf(argument));
      continue;
    }
    base::Result<std::vector<InputFile>> found =
        set == InputSet::kRuns ? RunsOfDirectory(argument) : RanksOfDirectory(argument, set);
    if (!found.ok()) return std::move(found).error();
    for (InputFile& file : *found) files.push_back(std::move(file));
  }
  const auto n_stdin = std::count_if(files.begin(), files.end(),
                                     [](const InputFile& file) { return file.path == "-"; });
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (files[i].path == "-" || files[i].path != files[j].path) continue;
      return base::Error{base::ErrorCode::kUsage, fmt::format("'{}' is given twice", files[i].path),
                         "give each rank once"};
    }
  }
  if (n_stdin > 1) {
    return base::Error{base::ErrorCode::kUsage, "standard input can be read once", "give - once"};
  }
  if (set == InputSet::kRecordings) MarkRecordings(files);
  return files;
}

std::vector<std::string> PathsOf(const std::vector<InputFile>& files) {
  std::vector<std::string> paths;
  for (const InputFile& file : files) paths.push_back(file.path);
  return paths;
}

base::Status CheckNotOverwritten(const std::string& input,
                                 const std::optional<std::string>& output) {
  std::error_code absent;
  if (!output || !fs::equivalent(input, *output, absent)) return {};
  return base::UsageError(fmt::format("-o {} would overwrite the input", *output),
                          "name another file");
}

}  // namespace layerscope::session
