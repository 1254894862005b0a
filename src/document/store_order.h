#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/ingest/kineto/raw_event_reader.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// One row of a store.
struct StoreRow {
  ingest::kineto::RowKind kind = ingest::kineto::RowKind::kNone;
  size_t row = 0;
  int64_t start_ns = 0;  ///< relative to the trace's zero
  int64_t dur_ns = 0;
};

/// Walks all rows of a store as a viewer likes them: by start, what lasts longer first, so that
/// what encloses stands before what it encloses. Rows of one kind keep their order, which is what
/// decides between equals when the trace is read again.
class StoreOrder {
 public:
  /// `trace` must outlive this.
  explicit StoreOrder(const trace::Trace& trace) : trace_(trace) {}

  /// Absent: there is none left.
  std::optional<StoreRow> Next();
  /// Of all kinds together.
  int64_t n_rows() const;

 private:
  static constexpr size_t kKinds = 5;

  std::optional<StoreRow> Head(size_t kind) const;

  const trace::Trace& trace_;
  std::array<size_t, kKinds> next_{};  ///< by kind, in the order of kOrder (store_order.cc)
};

}  // namespace layerscope::document
