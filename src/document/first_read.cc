#include "src/document/first_read.h"

#include "src/document/trace_json.h"

namespace layerscope::document {
namespace {

using ingest::kineto::RawEvent;
using ingest::kineto::RowKind;

base::Error Changed() {
  return {base::ErrorCode::kFailed, "the input changed while it was read",
          "do not write to a trace while it is read; run this again"};
}

template <typename Columns>
bool IsRow(const trace::Trace& trace, const Columns& columns, const RawEvent& event) {
  if (event.row >= columns.size()) return false;
  return AbsoluteNs(trace, columns.start_ns[event.row]) == event.start_ns &&
         columns.dur_ns[event.row] == event.dur_ns;
}

bool IsSame(const trace::Trace& trace, const RawEvent& event) {
  switch (event.kind) {
    case RowKind::kActivity:
      return IsRow(trace, trace.activities, event);
    case RowKind::kCall:
      return IsRow(trace, trace.calls, event);
    case RowKind::kOp:
      return IsRow(trace, trace.ops, event);
    case RowKind::kScope:
      return IsRow(trace, trace.RecordedScopes(), event);
    case RowKind::kAnnotation:
      return IsRow(trace, trace.annotations, event);
    case RowKind::kNone:
      break;
  }
  return true;
}

}  // namespace

base::Status FirstRead::Check(const RawEvent& event) {
  ++n_events_;
  ++n_rows_[static_cast<size_t>(event.kind)];
  if (!IsSame(trace_, event)) return Changed();
  return {};
}

base::Status FirstRead::CheckEnd() const {
  const auto n_of = [this](RowKind kind) { return n_rows_[static_cast<size_t>(kind)]; };
  const bool same =
      n_events_ == trace_.counts.n_events && n_of(RowKind::kActivity) == trace_.activities.size() &&
      n_of(RowKind::kCall) == trace_.calls.size() && n_of(RowKind::kOp) == trace_.ops.size() &&
      n_of(RowKind::kScope) == trace_.RecordedScopes().size() &&
      n_of(RowKind::kAnnotation) == trace_.annotations.size();
  if (!same) return Changed();
  return {};
}

}  // namespace layerscope::document
