#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// The names of kernels and what patterns are looked for in: made readable once, whatever the
/// number of patterns.
class KernelNames {
 public:
  /// `is_kernel` (by StringId index) says which of the strings are names of kernels. Both must
  /// outlive this.
  KernelNames(const trace::StringPool& strings, const std::vector<uint8_t>& is_kernel)
      : strings_(&strings), is_kernel_(&is_kernel) {}

  /// 1 for each name that `pattern` means, by StringId index; of a text that is no pattern none.
  /// It is looked for in kernel_names::MatchName of each; when no kernel has it there, in the raw
  /// names, so that text pasted from a mangled name works too.
  std::vector<uint8_t> Match(const std::string& pattern);

  const trace::StringPool& strings() const { return *strings_; }
  const std::vector<uint8_t>& is_kernel() const { return *is_kernel_; }

 private:
  const trace::StringPool* strings_;
  const std::vector<uint8_t>* is_kernel_;
  std::vector<std::string> readable_;  ///< by StringId index; filled when first needed
};

/// What KernelNames::Match says of a pattern that the user gives. kUsage: it is none. kFailed: no
/// kernel matches, and all do; says which kernels come near.
base::Result<std::vector<uint8_t>> MatchAnchor(KernelNames& names, const std::string& pattern);

}  // namespace layerscope::layers
