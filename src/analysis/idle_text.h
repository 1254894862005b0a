#pragma once

#include <string>

#include "src/analysis/idle_causes.h"
#include "src/analysis/rank_view.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// What explains most of the idle time, as one code: "wait", "host", "launch_bound", "silent",
/// "pauses"; "unknown" for a file without host events.
std::string IdleVerdict(const IdleReport& idle);

/// The same for people: "463 ms of it in one gap: the host waits in hipMemcpyWithStream
/// (aten::copy_), inside step[DECODE bs=32]".
std::string IdleText(const RankView& view, const IdleReport& idle);

/// `idle` of `summary`: idle_ns, in_steps_ns, n_gaps, verdict, causes, largest gaps.
table::Object IdleObject(const RankView& view, const IdleReport& idle);

}  // namespace layerscope::analysis
