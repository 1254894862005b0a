#include "src/analysis/rank_reduce.h"

#include <algorithm>

#include "src/base/format_number.h"

namespace layerscope::analysis {

const std::vector<std::string>& RankReduceNames() {
  static const std::vector<std::string> kNames = {"sum", "max", "mean"};
  return kNames;
}

void RankMeasure::Add(int64_t value) {
  fits_ = fits_ && !__builtin_add_overflow(sum_, value, &sum_);
  max_ = n_ == 0 ? value : std::max(max_, value);
  ++n_;
}

void RankMeasure::AddZeros(int64_t n) {
  if (n <= 0) return;
  Add(0);
  n_ += n - 1;
}

std::optional<int64_t> RankMeasure::Reduced(RankReduce how) const {
  if (n_ == 0 || (!fits_ && how != RankReduce::kMax)) return std::nullopt;
  switch (how) {
    case RankReduce::kSum:
      return sum_;
    case RankReduce::kMax:
      return max_;
    case RankReduce::kMean:
      return base::DivideHalfEven(sum_, n_);
  }
  return std::nullopt;
}

}  // namespace layerscope::analysis
