#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/idle_gaps.h"
#include "src/analysis/rank_view.h"
#include "src/trace/ids.h"

namespace layerscope::analysis {

/// What the host does while the GPU idles.
enum class IdleKind : uint8_t {
  kWait,       ///< a call that waits or copies covers most of the gap
  kHost,       ///< another call, an op or an annotation covers most of it
  kLaunching,  ///< a short gap, or many calls and ops: the host is busy, the GPU waits for launches
  kSilent,     ///< no call and no op, inside a step
  kPause,      ///< no call and no op, outside of every step
};
/// "wait", "host", "launching", "silent", "pause".
std::string_view ToString(IdleKind kind);

/// One gap and what covers it. Names are invalid where nothing is known.
struct ExplainedGap {
  trace::DeviceId device;
  IdleGap gap;
  IdleKind kind = IdleKind::kLaunching;
  trace::StringId name;  ///< the call (kWait), or call, op or annotation (kHost)
  trace::StringId op;    ///< kWait: the op or annotation around the call
  trace::StringId step;  ///< the innermost step annotation, outer ones included
};

/// Gaps with one cause.
struct IdleCause {
  IdleKind kind = IdleKind::kLaunching;
  trace::StringId name;
  trace::StringId op;
  int64_t ns = 0;
  int64_t n_gaps = 0;
  ExplainedGap largest;
};

/// Why the GPU idles. The causes add up to `idle_ns`.
struct IdleReport {
  int64_t idle_ns = 0;
  int64_t in_steps_ns = 0;  ///< inside the host's step annotations, outer ones included
  int64_t n_gaps = 0;
  int64_t n_calls = 0;            ///< calls that start in a gap, of all threads
  bool has_host = false;          ///< false: the file has no call and no op to explain anything
  std::vector<IdleCause> causes;  ///< by time
  std::vector<ExplainedGap> largest;

  int64_t Sum(IdleKind kind) const;
};

/// Explains the idle time of the devices that the view's selection has activities on: linear in
/// the host's rows, n log n in the gaps.
IdleReport ExplainIdle(const RankView& view, const std::vector<DeviceIdle>& idle);

}  // namespace layerscope::analysis
