#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace layerscope::analysis {

/// How a step's figures over ranks become one number.
enum class RankReduce : uint8_t { kSum, kMax, kMean };
/// "sum", "max", "mean": by enumerator.
const std::vector<std::string>& RankReduceNames();

/// One figure of a step over the ranks that have it.
class RankMeasure {
 public:
  void Add(int64_t value);
  /// So many more ranks that have 0 of it.
  void AddZeros(int64_t n);
  /// Absent where no rank has it, or the sum does not fit into 64 bits. Means are rounded half to
  /// even.
  std::optional<int64_t> Reduced(RankReduce how) const;

 private:
  int64_t n_ = 0;
  int64_t sum_ = 0;
  int64_t max_ = 0;
  bool fits_ = true;
};

}  // namespace layerscope::analysis
