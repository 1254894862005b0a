#include "src/session/side_file_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "src/io/list_directory.h"
#include "src/session/file_begin.h"
#include "src/session/input_files.h"
#include "src/session/rank_name.h"
#include "src/session/side_file_name.h"
#include "src/session/workload.h"
#include "src/workload/kind.h"

namespace layerscope::session {
namespace {

namespace fs = std::filesystem;

std::vector<SideFilePath>& ListOf(SideFileSet& set, SideKind kind) {
  switch (kind) {
    case SideKind::kCapture:
      return set.captures;
    case SideKind::kAnnotations:
      return set.annotations;
    case SideKind::kModelTree:
      break;
  }
  return set.model_trees;
}

/// Every side file of a directory, by its name; nothing where it cannot be listed.
void AddByName(const fs::path& directory, SideFileSet& set) {
  const base::Result<std::vector<io::DirectoryEntry>> entries =
      io::ListDirectory(directory.string());
  if (!entries.ok()) return;
  for (const io::DirectoryEntry& entry : *entries) {
    const std::optional<SideName> name = ParseSideName(entry.name);
    if (!name) continue;
    ListOf(set, name->kind)
        .push_back({(directory / entry.name).string(), name->rank, name->batch, entry.bytes});
  }
}

bool IsDirectory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

SideFilePath NamedFile(const std::string& path, const std::string& option) {
  const std::string file_name = fs::path(path).filename().string();
  SideFilePath file;
  file.path = path;
  file.option = option;
  file.rank = ParseRankName(file_name).rank;
  if (const std::optional<SideName> name = ParseSideName(file_name)) file.batch = name->batch;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (!error) file.bytes = static_cast<int64_t>(bytes);
  return file;
}

base::Error HoldsNone(const std::string& option, const std::string& path, const char* what,
                      const char* names) {
  return {base::ErrorCode::kInvalidInput,
          fmt::format("{}: '{}' holds no {} ({})", option, path, what, names),
          "name the file itself"};
}

/// All traces of a directory whose names say nothing.
std::vector<SideFilePath> TracesOf(const std::string& directory) {
  std::vector<SideFilePath> files;
  const base::Result<std::vector<io::DirectoryEntry>> entries = io::ListDirectory(directory);
  if (!entries.ok()) return files;
  for (const io::DirectoryEntry& entry : *entries) {
    if (!IsTraceName(entry.name) || ParseSideName(entry.name)) continue;
    files.push_back({(fs::path(directory) / entry.name).string(), ParseRankName(entry.name).rank,
                     std::nullopt, entry.bytes});
  }
  return files;
}

base::Status AddCaptures(const std::string& path, std::vector<SideFilePath>& files) {
  const std::string option = "--capture-trace";
  if (!IsDirectory(path)) {
    files.push_back(NamedFile(path, option));
    return {};
  }
  SideFileSet found;
  AddByName(path, found);
  AddByName(fs::path(path) / kCaptureFolder, found);
  files = std::move(found.captures);
  if (files.empty()) files = TracesOf(path);
  if (files.empty()) {
    return HoldsNone(option, path, "capture trace", "bs_<bs>_rank<r>.json.gz");
  }
  return {};
}

base::Status AddEager(const std::string& path, std::vector<SideFilePath>& files) {
  const std::string option = "--eager-trace";
  if (!IsDirectory(path)) {
    files.push_back(NamedFile(path, option));
    return {};
  }
  base::Result<std::vector<InputFile>> found = FindInputFiles({path});
  if (!found.ok()) return std::move(found).error().WithContext(option);
  for (const InputFile& file : *found) {
    files.push_back({file.path, file.rank_from_name, std::nullopt, file.bytes});
  }
  return {};
}

/// A file itself, or the files of that kind in a directory.
base::Status AddKind(SideKind kind, const std::string& path, const std::string& option,
                     const char* what, const char* names, std::vector<SideFilePath>& files) {
  if (!IsDirectory(path)) {
    files.push_back(NamedFile(path, option));
    return {};
  }
  SideFileSet found;
  AddByName(path, found);
  files = std::move(ListOf(found, kind));
  if (files.empty()) return HoldsNone(option, path, what, names);
  return {};
}

std::string_view WithoutEnding(std::string_view file_name) {
  return file_name.substr(0, file_name.rfind(".json"));
}

/// A file's name without its ending and without `_rank3`.
std::string_view NameOfAllRanks(std::string_view file_name) {
  const std::string_view stem = WithoutEnding(file_name);
  const size_t rank = stem.rfind("_rank");
  const bool is_number = rank != std::string_view::npos && rank + 5 < stem.size() &&
                         stem.find_first_not_of("0123456789", rank + 5) == std::string_view::npos;
  return is_number ? stem.substr(0, rank) : stem;
}

/// NAME_rank0.json, NAME_rank1.json, …, as `layerscope-capture walk` writes what was asked for as
/// NAME.json of several ranks; `path` itself is not there.
std::vector<SideFilePath> OneOfEachRank(const std::string& path) {
  std::vector<SideFilePath> files;
  const std::string file_name = fs::path(path).filename().string();
  if (!IsTraceName(file_name)) return files;
  const fs::path folder = fs::path(path).parent_path();
  const base::Result<std::vector<io::DirectoryEntry>> entries =
      io::ListDirectory(folder.empty() ? "." : folder.string());
  if (!entries.ok()) return files;
  for (const io::DirectoryEntry& entry : *entries) {
    if (!IsTraceName(entry.name) || !ParseRankName(entry.name).rank) continue;
    if (NameOfAllRanks(entry.name) != WithoutEnding(file_name)) continue;
    files.push_back(NamedFile((folder / entry.name).string(), "--model-tree"));
  }
  return files;
}

/// The model trees of a directory by their content: of one name, for that of each rank.
base::Status AddTreesByContent(const std::string& path, std::vector<SideFilePath>& files) {
  for (SideFilePath& file : TracesOf(path)) {
    const std::string begin = FileBegin(file.path, kSniffBytes);
    if (workload::ForeignName(begin) == workload::kModelTree) files.push_back(std::move(file));
  }
  const auto name_of = [](const SideFilePath& file) {
    return std::string(NameOfAllRanks(fs::path(file.path).filename().string()));
  };
  for (const SideFilePath& file : files) {
    if (name_of(file) == name_of(files.front())) continue;
    return base::Error{base::ErrorCode::kInvalidInput,
                       fmt::format("--model-tree: '{}' holds trees of several models ({}, {})",
                                   path, fs::path(files.front().path).filename().string(),
                                   fs::path(file.path).filename().string()),
                       fmt::format("name one of them; {}.json stands for {}_rank<r>.json too",
                                   name_of(files.front()), name_of(files.front()))};
  }
  return {};
}

base::Status AddModelTrees(const std::string& path, std::vector<SideFilePath>& files) {
  files = OneOfEachRank(path);
  std::error_code error;
  if (!files.empty() && !fs::exists(path, error)) return {};
  constexpr const char* kNames =
      "model_tree.json, or NAME_rank<r>.json as `layerscope-capture "
      "walk` writes them";
  files.clear();
  base::Status added =
      AddKind(SideKind::kModelTree, path, "--model-tree", "model tree", kNames, files);
  if (added.ok() || !IsDirectory(path)) return added;
  if (base::Status found = AddTreesByContent(path, files); !found.ok()) return found;
  return files.empty() ? added : base::Status();
}

base::Status CheckExists(const std::string& path, const char* option) {
  std::error_code error;
  if (path.empty() || fs::exists(path, error)) return {};
  return base::Error{base::ErrorCode::kInvalidInput,
                     fmt::format("{}: '{}' does not exist", option, path), "check the path"};
}

}  // namespace

SideFileOptions SideFileOptionsOf(const OptionValues& values) {
  SideFileOptions options;
  options.captures = values.TextOr("capture-trace", {});
  options.eager = values.TextOr("eager-trace", {});
  options.annotations = values.TextOr("graph-annotations", {});
  options.model_tree = values.TextOr("model-tree", {});
  options.search = !values.Flag("no-side-files");
  return options;
}

base::Result<SideFileSet> NamedSideFiles(const SideFileOptions& options) {
  SideFileSet set;
  for (const auto& [path, option] :
       {std::pair(&options.captures, "--capture-trace"), std::pair(&options.eager, "--eager-trace"),
        std::pair(&options.annotations, "--graph-annotations"),
        std::pair(&options.model_tree, "--model-tree")}) {
    if (path == &options.model_tree && !OneOfEachRank(*path).empty()) continue;
    if (base::Status there = CheckExists(*path, option); !there.ok()) {
      return std::move(there).error();
    }
  }
  base::Status added;
  if (!options.captures.empty()) added = AddCaptures(options.captures, set.captures);
  if (added.ok() && !options.eager.empty()) added = AddEager(options.eager, set.eager);
  if (added.ok() && !options.annotations.empty()) {
    added = AddKind(SideKind::kAnnotations, options.annotations, "--graph-annotations",
                    "graph annotations", "graph_annotations_rank<r>.json", set.annotations);
  }
  if (added.ok() && !options.model_tree.empty()) {
    added = AddModelTrees(options.model_tree, set.model_trees);
  }
  if (!added.ok()) return std::move(added).error();
  return set;
}

SideFileSet SideFilesBeside(const std::string& trace_path) {
  SideFileSet set;
  if (trace_path.empty() || trace_path == "-") return set;
  const fs::path directory = fs::path(trace_path).parent_path();
  const fs::path here = directory.empty() ? fs::path(".") : directory;
  AddByName(here, set);
  SideFileSet captures;
  AddByName(here / kCaptureFolder, captures);
  if (captures.captures.empty()) AddByName(here / ".." / kCaptureFolder, captures);
  set.captures.insert(set.captures.end(), captures.captures.begin(), captures.captures.end());
  for (std::vector<SideFilePath>* list : {&set.captures, &set.annotations, &set.model_trees}) {
    // The trace itself may be a capture.
    std::erase_if(*list, [&](const SideFilePath& file) {
      std::error_code error;
      return fs::equivalent(file.path, trace_path, error);
    });
    for (SideFilePath& file : *list) {
      file.path = fs::path(file.path).lexically_normal().string();
      file.beside = true;
    }
  }
  return set;
}

std::vector<std::string> ConfigsBeside(const std::vector<std::string>& trace_paths) {
  std::vector<std::string> configs;
  std::set<std::string> folders;
  for (const std::string& path : trace_paths) {
    if (path.empty() || path == "-") continue;
    const fs::path folder = fs::path(path).parent_path();
    if (!folders.insert(folder.string()).second) continue;
    const fs::path config = folder / kConfigName;
    std::error_code error;
    const bool is_input = fs::equivalent(config, path, error);
    if (!is_input && fs::is_regular_file(config, error)) configs.push_back(config.string());
  }
  return configs;
}

const SideFilePath* ChooseOfRank(const std::vector<SideFilePath>& files,
                                 std::optional<int64_t> rank) {
  for (const SideFilePath& file : files) {
    if (rank && file.rank == rank) return &file;
  }
  for (const SideFilePath& file : files) {
    if (!file.rank) return &file;
  }
  return !rank && files.size() == 1 ? &files.front() : nullptr;
}

std::vector<SideFilePath> CapturesOfRank(const std::vector<SideFilePath>& files,
                                         std::optional<int64_t> rank) {
  const bool any = std::any_of(files.begin(), files.end(),
                               [&](const SideFilePath& file) { return rank && file.rank == rank; });
  if (!any) return files;
  std::vector<SideFilePath> chosen;
  for (const SideFilePath& file : files) {
    if (!file.rank || file.rank == rank) chosen.push_back(file);
  }
  return chosen;
}

}  // namespace layerscope::session
