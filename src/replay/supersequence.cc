#include "src/replay/supersequence.h"

#include <algorithm>
#include <limits>

namespace layerscope::replay {
namespace {

constexpr uint32_t kTooLong = std::numeric_limits<uint32_t>::max();

/// By prefixes of both sides: the length of their shortest common supersequence, and whether there
/// are several. If both prefixes end alike, so does each shortest supersequence; else it ends like
/// one of them, and what is before is the shortest of the prefixes without that element.
class CommonTable {
 public:
  CommonTable(std::span<const uint32_t> a, std::span<const uint32_t> b, size_t longest)
      : a_(a),
        b_(b),
        longest_(longest),
        most_only_a_(longest - b.size()),
        width_(most_only_a_ + longest - a.size() + 1) {}

  size_t n_cells() const { return (a_.size() + 1) * width_; }

  void Fill() {
    cells_.assign(n_cells(), {});
    for (size_t i = 0; i <= a_.size(); ++i) {
      for (size_t k = 0; k < width_; ++k) {
        if (i + k < most_only_a_ || i + k - most_only_a_ > b_.size()) continue;
        const size_t j = i + k - most_only_a_;
        cells_[i * width_ + k] = i + j == 0 ? Cell{0, false} : CellOf(i, j);
      }
    }
  }

  bool IsOnly() const {
    const Cell last = At(a_.size(), b_.size());
    return last.length <= longest_ && !last.several;
  }

  std::vector<uint32_t> Sequence() const {
    std::vector<uint32_t> reversed;
    for (size_t i = a_.size(), j = b_.size(); i + j > 0;) {
      const bool both = i > 0 && j > 0 && a_[i - 1] == b_[j - 1];
      const bool from_a = both || j == 0 || (i > 0 && At(i - 1, j).length < At(i, j - 1).length);
      reversed.push_back(from_a ? a_[i - 1] : b_[j - 1]);
      if (from_a) --i;
      if (both || !from_a) --j;
    }
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  }

 private:
  struct Cell {
    uint32_t length = kTooLong;
    bool several = false;
    bool operator==(const Cell&) const = default;
  };

  Cell At(size_t i, size_t j) const {
    if (j + most_only_a_ < i || j + most_only_a_ - i >= width_) return {};
    return cells_[i * width_ + j + most_only_a_ - i];
  }

  Cell CellOf(size_t i, size_t j) const {
    if (i > 0 && j > 0 && a_[i - 1] == b_[j - 1]) {
      Cell cell = At(i - 1, j - 1);
      if (cell.length != kTooLong) ++cell.length;
      return cell;
    }
    const Cell without_a = i > 0 ? At(i - 1, j) : Cell();
    const Cell without_b = j > 0 ? At(i, j - 1) : Cell();
    Cell cell = without_a.length < without_b.length ? without_a : without_b;
    if (cell.length == kTooLong) return {};
    if (without_a.length == without_b.length) cell.several = true;
    ++cell.length;
    return cell;
  }

  std::span<const uint32_t> a_, b_;
  const size_t longest_;
  const size_t most_only_a_;  // elements of `a` alone
  const size_t width_;        // of the band around the diagonal
  std::vector<Cell> cells_;
};

}  // namespace

std::optional<std::vector<uint32_t>> OnlySupersequence(std::span<const uint32_t> a,
                                                       std::span<const uint32_t> b, size_t longest,
                                                       size_t max_cells) {
  if (std::max(a.size(), b.size()) > longest) return std::nullopt;
  CommonTable table(a, b, longest);
  if (table.n_cells() > max_cells) return std::nullopt;
  table.Fill();
  if (!table.IsOnly()) return std::nullopt;
  return table.Sequence();
}

bool IsSubsequence(std::span<const uint32_t> part, std::span<const uint32_t> whole) {
  size_t n = 0;
  for (size_t i = 0; i < whole.size() && n < part.size(); ++i) n += whole[i] == part[n] ? 1 : 0;
  return n == part.size();
}

}  // namespace layerscope::replay
