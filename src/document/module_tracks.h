#pragma once

#include <vector>

#include "src/attribution/attribution.h"
#include "src/document/track.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// Modules below this depth are drawn as part of the one around them: no viewer shows more levels,
/// and a hostile trace may nest them a million deep.
inline constexpr int kDeepestModuleTrack = 32;

/// The modules that launched the activities of every GPU stream, nested on one track a stream. Keys
/// are indices into ModuleTree::modules. A stream whose activities have no module gives no track.
std::vector<Track> ModuleTracks(const trace::Trace& trace,
                                const attribution::Attribution& attribution);

}  // namespace layerscope::document
