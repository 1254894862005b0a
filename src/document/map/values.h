#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/table/value.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// Names are cut to so many bytes where they stand in every op ("…"): a damaged trace has names of
/// megabytes. kernel_summary has the whole name.
inline constexpr size_t kMostNameBytes = 200;
/// Arguments listed of one op; foreach ops take hundreds of tensors.
inline constexpr size_t kMostArguments = 32;

/// Microseconds rounded to 0.1: the unit of the legacy keys.
double Microseconds(int64_t ns);
std::string CutName(std::string_view name);
/// Only what is not zero: most modules have one class of evidence, and there are many modules.
table::Object EvidenceValue(const analysis::EvidenceSums& sums);

/// What an op was called with.
struct OpArguments {
  std::string dims;   ///< tensor shapes, "[2,8] → [8]"; empty when no shapes were recorded
  table::Array args;  ///< {name, shape, dtype} each; what is no tensor has no shape
  bool has_tensor = false;
};
OpArguments ReadArguments(const trace::Trace& trace, trace::ArgsId args);

/// "bfloat16" of "c10::BFloat16"; the recorded name where PyTorch has no other.
std::string DtypeName(std::string_view recorded);

}  // namespace layerscope::document
