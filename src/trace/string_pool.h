#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "src/base/string_map.h"
#include "src/trace/ids.h"

namespace layerscope::trace {

/// Every distinct string of one file, once. Ids are dense and in order of first appearance in the
/// file, whatever thread parsed it. Views stay valid as long as the pool lives.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  StringId Intern(std::string_view text);
  /// The id of a string that may be absent (then invalid).
  StringId Find(std::string_view text) const;
  /// An invalid id reads as the empty string.
  std::string_view operator[](StringId id) const {
    return id.valid() ? views_[id.index()] : std::string_view();
  }
  size_t size() const { return views_.size(); }
  /// Bytes held, for --stats.
  size_t bytes() const;

 private:
  base::StringArena arena_;
  std::vector<std::string_view> views_;
  base::StringMap<StringId> ids_;
};

}  // namespace layerscope::trace
