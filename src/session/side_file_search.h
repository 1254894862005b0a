#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/session/option.h"

namespace layerscope::session {

/// What --capture-trace, --eager-trace, --graph-annotations and --model-tree name; empty: not
/// given.
struct SideFileOptions {
  std::string captures;
  std::string eager;
  std::string annotations;
  std::string model_tree;
  bool search = true;  ///< also look beside each trace; off by --no-side-files

  bool names_replays() const { return !captures.empty() || !eager.empty() || !annotations.empty(); }
};

SideFileOptions SideFileOptionsOf(const OptionValues& values);

/// One file beside a run.
struct SideFilePath {
  std::string path{};
  std::optional<int64_t> rank{};   ///< what its name says
  std::optional<int64_t> batch{};  ///< what its name says
  int64_t bytes = -1;              ///< on disk; -1 = unknown
  std::string option{};  ///< the option that names this very file; empty: found in a directory
  bool beside = false;   ///< found beside a trace, named by nobody
};

struct SideFileSet {
  std::vector<SideFilePath> captures;
  std::vector<SideFilePath> eager;
  std::vector<SideFilePath> annotations;
  std::vector<SideFilePath> model_trees;
};

/// What the options name: a file stands for itself, a directory for the files of that kind in it
/// (and in its `capture_traces`). Model trees of a directory are told by content where no name says
/// it, and NAME.json that is not there stands for NAME_rank<r>.json. kInvalidInput, with the option
/// in front, for a path that does not exist and a directory that holds nothing of the kind.
base::Result<SideFileSet> NamedSideFiles(const SideFileOptions& options);

/// What lies beside a trace by its name: captures in its own directory, in `capture_traces` of that
/// and of the one above; annotations and model trees in its own. Nothing for standard input.
SideFileSet SideFilesBeside(const std::string& trace_path);

/// `config.json` in the folders of the traces, each folder once, in this order: what the model's
/// makers and `layerscope-capture profile` call the config. Nothing for standard input.
std::vector<std::string> ConfigsBeside(const std::vector<std::string>& trace_paths);

/// Of several files of one kind, the one of a rank: by name; else the one whose name says no rank;
/// else the only one, where the trace does not say its rank. Null: none.
const SideFilePath* ChooseOfRank(const std::vector<SideFilePath>& files,
                                 std::optional<int64_t> rank);

/// Captures of that rank and those whose names say none; all where none is of the rank.
std::vector<SideFilePath> CapturesOfRank(const std::vector<SideFilePath>& files,
                                         std::optional<int64_t> rank);

}  // namespace layerscope::session
