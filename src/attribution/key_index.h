#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace layerscope::attribution {

/// The rows of a table by a 64-bit key (correlation, External id), in file order within a key.
/// Profilers number densely, so keys normally index an array directly (4 bytes a key of the range);
/// scattered keys are sorted and searched.
class KeyIndex {
 public:
  KeyIndex() = default;
  /// Takes the given rows of `keys`; `rows` in file order.
  KeyIndex(std::span<const int64_t> keys, std::span<const uint32_t> rows);

  /// Empty when no row has the key.
  std::span<const uint32_t> Find(int64_t key) const;

  /// Calls fn(span of rows) for every key with more than one row; fn may reorder the rows.
  template <typename Fn>
  void ReorderGroups(const Fn& fn) {
    for (size_t i = 0; i + 1 < begin_.size(); ++i) {
      const size_t n = begin_[i + 1] - begin_[i];
      if (n > 1) fn(std::span(rows_).subspan(begin_[i], n));
    }
  }

 private:
  void BuildDense(std::span<const int64_t> keys, std::span<const uint32_t> rows, size_t range);
  void BuildSorted(std::span<const int64_t> keys, std::span<const uint32_t> rows);

  bool dense_ = true;
  int64_t first_key_ = 0;           // dense: the key of group 0
  std::vector<int64_t> keys_;       // sorted: the key of every group
  std::vector<uint32_t> begin_{0};  // by group, and one past the last
  std::vector<uint32_t> rows_;
};

}  // namespace layerscope::attribution
