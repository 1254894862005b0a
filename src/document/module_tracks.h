#pragma once

#include <vector>

#include "src/analysis/rank_view.h"
#include "src/document/track.h"

namespace layerscope::document {

/// Modules below this depth are drawn as part of the one around them: no viewer shows more levels,
/// and a hostile trace may nest them a million deep.
inline constexpr int kDeepestModuleTrack = 32;

/// The modules that launched the activities of every GPU stream, nested on one track a stream. Keys
/// are indices into ModuleTree::modules. A stream whose activities have no module gives no track.
/// Of the selected activities alone.
std::vector<Track> ModuleTracks(const analysis::RankView& view);

}  // namespace layerscope::document
