#include "src/analysis/idle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using base::FormatCount;
using base::FormatDuration;
using table::Object;

/// A cause is worth a word when it explains this part of the idle time.
constexpr int64_t kNamedShare = 4;
/// With so many module scopes the recording kept Python stacks.
constexpr size_t kManyScopes = 1000;
constexpr size_t kListedCauses = 10;

table::Value NameOrNull(const RankView& view, trace::StringId name) {
  if (!name.valid()) return table::Null();
  return std::string(view.trace().strings[name]);
}

/// The largest cause that has a name, if it explains enough.
const IdleCause* NamedCause(const IdleReport& idle) {
  for (const IdleCause& cause : idle.causes) {
    if (cause.ns < idle.idle_ns / kNamedShare) return nullptr;
    if (cause.kind == IdleKind::kWait || cause.kind == IdleKind::kHost) return &cause;
  }
  return nullptr;
}

/// A step's name may carry every sum of its requests; the front says which step it is.
std::string Shortened(std::string_view name) {
  constexpr size_t kMostBytes = 32;
  if (name.size() <= kMostBytes) return std::string(name);
  size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;
  return std::string(name.substr(0, end)) + "…";
}

std::string GapsText(const IdleCause& cause, int64_t idle_ns) {
  const std::string gaps =
      cause.n_gaps == 1 ? "one gap" : fmt::format("{} gaps", FormatCount(cause.n_gaps));
  return fmt::format("{}{} in {}", FormatDuration(cause.ns), cause.ns < idle_ns ? " of it" : "",
                     gaps);
}

std::string NamedText(const RankView& view, const IdleReport& idle, const IdleCause& cause) {
  const trace::Trace& trace = view.trace();
  std::string text =
      fmt::format("{}: the host {} {}", GapsText(cause, idle.idle_ns),
                  cause.kind == IdleKind::kWait ? "waits in" : "is in", trace.strings[cause.name]);
  if (cause.op.valid()) text += fmt::format(" ({})", trace.strings[cause.op]);
  if (cause.n_gaps == 1 && cause.largest.step.valid()) {
    text += fmt::format(", inside {}", Shortened(trace.strings[cause.largest.step]));
  }
  return text;
}

std::string LaunchingText(const RankView& view, const IdleReport& idle) {
  std::string text = fmt::format("host- or launch-bound ({} calls in {} gaps)",
                                 FormatCount(idle.n_calls), FormatCount(idle.n_gaps));
  const trace::Trace& trace = view.trace();
  if (trace.metadata.with_stack || trace.scopes.size() > kManyScopes) {
    text += "; recording stacks slows the host";
  }
  return text;
}

table::Value LabelOf(const RankView& view, trace::DeviceId device) {
  return std::visit([](const auto& label) { return table::Value(label); },
                    view.DeviceLabel(device));
}

Object GapObject(const RankView& view, const ExplainedGap& gap) {
  return {{"start_ns", gap.gap.start_ns},        {"dur_ns", gap.gap.length_ns()},
          {"device", LabelOf(view, gap.device)}, {"kind", std::string(ToString(gap.kind))},
          {"name", NameOrNull(view, gap.name)},  {"op", NameOrNull(view, gap.op)},
          {"step", NameOrNull(view, gap.step)}};
}

}  // namespace

std::string IdleVerdict(const IdleReport& idle) {
  if (!idle.has_host) return "unknown";
  if (const IdleCause* cause = NamedCause(idle)) return std::string(ToString(cause->kind));
  if (idle.Sum(IdleKind::kPause) > idle.idle_ns / 2) return "pauses";
  if (idle.Sum(IdleKind::kSilent) > idle.idle_ns / 2) return "silent";
  return "launch_bound";
}

std::string IdleText(const RankView& view, const IdleReport& idle) {
  if (!idle.has_host) return "the file has no host events that would say why";
  if (const IdleCause* cause = NamedCause(idle)) {
    std::string text = NamedText(view, idle, *cause);
    const int64_t launching_ns = idle.Sum(IdleKind::kLaunching);
    if (launching_ns >= idle.idle_ns / kNamedShare) {
      text +=
          fmt::format("; {} in short gaps: host- or launch-bound", FormatDuration(launching_ns));
    }
    return text;
  }
  const int64_t pause_ns = idle.Sum(IdleKind::kPause);
  if (pause_ns > idle.idle_ns / 2) {
    return fmt::format("the recording has pauses (no call, no op for {})",
                       FormatDuration(pause_ns));
  }
  const int64_t silent_ns = idle.Sum(IdleKind::kSilent);
  if (silent_ns > idle.idle_ns / 2) {
    return fmt::format("for {} the host records no call and no op (Python, I/O, other processes)",
                       FormatDuration(silent_ns));
  }
  return LaunchingText(view, idle);
}

Object IdleObject(const RankView& view, const IdleReport& idle) {
  table::Array causes;
  for (size_t i = 0; i < std::min(idle.causes.size(), kListedCauses); ++i) {
    const IdleCause& cause = idle.causes[i];
    causes.push_back(Object{{"kind", std::string(ToString(cause.kind))},
                            {"name", NameOrNull(view, cause.name)},
                            {"op", NameOrNull(view, cause.op)},
                            {"ns", cause.ns},
                            {"n_gaps", cause.n_gaps}});
  }
  table::Array gaps;
  for (const ExplainedGap& gap : idle.largest) gaps.push_back(GapObject(view, gap));
  return {{"idle_ns", idle.idle_ns},      {"in_steps_ns", idle.in_steps_ns},
          {"n_gaps", idle.n_gaps},        {"n_calls", idle.n_calls},
          {"verdict", IdleVerdict(idle)}, {"causes", std::move(causes)},
          {"gaps", std::move(gaps)}};
}

}  // namespace layerscope::analysis
