#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "src/ingest/nsys/row_dictionary.h"
#include "src/trace/ids.h"

namespace layerscope::ingest::nsys {

enum class NvtxRowKind : uint8_t {
  kModule,
  kOp,
  kAnnotation,
  kPlainRange,   ///< an annotation of the default domain
  kByText,       ///< `name` is a row of StringIds, whose text decides
  kPlainByText,  ///< the same, in the default domain
};

/// NVTX ranges in the table's order. Those with a registered string become what they are only when
/// StringIds is read.
struct NvtxRows {
  static constexpr int64_t kOpenNs = std::numeric_limits<int64_t>::min();

  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;  ///< kOpenNs: never closed
  std::vector<trace::StringId> name;
  std::vector<trace::ThreadId> thread;
  std::vector<trace::ArgsId> args;  ///< ops only
  std::vector<NvtxRowKind> kind;
  size_t size() const { return start_ns.size(); }
};

struct NvtxRange {
  NvtxRowKind kind = NvtxRowKind::kAnnotation;
  trace::StringId name;
  trace::ArgsId args;
};

/// What the text makes of a range; `is_plain`: it is of the default domain. Nullopt: it tells
/// nothing (the empty pair behind a module's call).
std::optional<NvtxRange> RangeOfText(std::string_view text, bool is_plain, RowDictionary& names);

}  // namespace layerscope::ingest::nsys
