#include "src/document/store_order.h"

namespace layerscope::document {
namespace {

using ingest::kineto::RowKind;

/// Of two rows that cover the same time the first kind encloses the others.
constexpr std::array<RowKind, 5> kOrder = {RowKind::kAnnotation, RowKind::kScope, RowKind::kOp,
                                           RowKind::kCall, RowKind::kActivity};

template <typename Columns>
std::optional<StoreRow> RowOf(RowKind kind, const Columns& columns, size_t row) {
  if (row >= columns.size()) return std::nullopt;
  return StoreRow{kind, row, columns.start_ns[row], columns.dur_ns[row]};
}

bool StandsBefore(const StoreRow& a, const StoreRow& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
}

}  // namespace

std::optional<StoreRow> StoreOrder::Head(size_t kind) const {
  const size_t row = next_[kind];
  switch (kOrder[kind]) {
    case RowKind::kActivity:
      return RowOf(kOrder[kind], trace_.activities, row);
    case RowKind::kCall:
      return RowOf(kOrder[kind], trace_.calls, row);
    case RowKind::kOp:
      return RowOf(kOrder[kind], trace_.ops, row);
    case RowKind::kScope:
      return RowOf(kOrder[kind], trace_.scopes, row);
    case RowKind::kAnnotation:
      return RowOf(kOrder[kind], trace_.annotations, row);
    case RowKind::kNone:
      break;
  }
  return std::nullopt;
}

std::optional<StoreRow> StoreOrder::Next() {
  std::optional<StoreRow> best;
  size_t best_kind = 0;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    const std::optional<StoreRow> head = Head(kind);
    if (!head || (best && !StandsBefore(*head, *best))) continue;
    best = head;
    best_kind = kind;
  }
  if (best) ++next_[best_kind];
  return best;
}

int64_t StoreOrder::n_rows() const {
  return static_cast<int64_t>(trace_.activities.size() + trace_.calls.size() + trace_.ops.size() +
                              trace_.scopes.size() + trace_.annotations.size());
}

}  // namespace layerscope::document
