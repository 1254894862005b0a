#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"

namespace layerscope::session {

/// What several input files are to each other.
enum class InputSet : uint8_t {
  kRanks,  ///< ranks of one run, on one clock
  /// The same, and where ranks repeat from folder to folder, several recordings of one run, one
  /// after the other: what `layerscope-capture drive` leaves.
  kRecordings,
  kRuns,  ///< runs of their own, each with its own zero
};

/// One file to read.
struct InputFile {
  std::string path;                       ///< "-" = standard input
  std::optional<int64_t> rank_from_name;  ///< what the name says; the file's content goes first
  int64_t bytes = -1;                     ///< on disk; -1 = unknown
  bool from_directory = false;            ///< found in a directory, not named by the user
  std::string recording{};  ///< the folder of its recording, where a run has several; else empty
  /// Of the first file of a directory: the folders in it that hold traces too, and are not read.
  std::vector<std::string> unread_folders{};
  /// The same where the folders of a directory are read: those that cannot be listed.
  std::vector<std::string> unlisted_folders{};
};

/// Turns INPUT arguments into files: a file or "-" stands for itself, a directory for the traces in
/// it whose names hold a rank (or for its only trace); of runs for all traces in it, by name,
/// without what layerscope and engines write beside them (IsOwnDocument, config.json, results …).
/// A directory that holds no trace stands for the one folder in it that does; several are
/// recordings, where the set takes those.
/// Databases (*.sqlite) and reports (*.nsys-rep) are traces too; of both of one name the database.
/// kUsage without inputs; kInvalidInput for a directory without traces, with several runs of the
/// same ranks, or a path that does not exist, and of kRanks for folders of several recordings.
base::Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& arguments,
                                                    InputSet set = InputSet::kRanks);

std::vector<std::string> PathsOf(const std::vector<InputFile>& files);

/// kUsage when writing to `output` (-o, absent for standard output) would overwrite `input`, by
/// whatever name.
base::Status CheckNotOverwritten(const std::string& input,
                                 const std::optional<std::string>& output);

}  // namespace layerscope::session
