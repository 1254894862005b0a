#pragma once

#include "src/session/loaded_run.h"

namespace layerscope::session {

/// Adds to the run's health the folders of a directory that were not read because traces lie beside
/// them (`folders_not_read`), and those that cannot be listed (`folders_not_listed`).
void NoteFolders(const std::vector<InputFile>& files, LoadedRun& run);

/// Adds to the run's health what is to be said of its recordings, after attribution: that files are
/// taken for such (`recordings`); that they are of different models (`recordings_differ`: the root
/// with most modules has another class, and is no root of the other); that a file holds the very
/// events of one in another folder (`recordings_repeat`). Nothing where the run has one.
void NoteRecordings(LoadedRun& run);

}  // namespace layerscope::session
