#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/result.h"

namespace layerscope::session {

/// One file to read.
struct InputFile {
  std::string path;                       ///< "-" = standard input
  std::optional<int64_t> rank_from_name;  ///< what the name says; the file's content goes first
  int64_t bytes = -1;                     ///< on disk; -1 = unknown
  bool from_directory = false;            ///< found by its rank's name, not named by the user
};

/// Turns INPUT arguments into files: a file or "-" stands for itself, a directory for the traces in
/// it whose names hold a rank (or for its only trace). kUsage without inputs; kInvalidInput for a
/// directory without traces, with several runs, or a path that does not exist.
base::Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& arguments);

/// kUsage when writing to `output` (-o, absent for standard output) would overwrite `input`, by
/// whatever name.
base::Status CheckNotOverwritten(const std::string& input,
                                 const std::optional<std::string>& output);

}  // namespace layerscope::session
