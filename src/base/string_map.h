#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace layerscope::base {

/// Keys are views: the text must outlive the map (keep it in a StringArena).
template <typename V>
using StringMap = tsl::robin_map<std::string_view, V, std::hash<std::string_view>>;

/// Owns the bytes of many strings in large blocks; views never move.
class StringArena {
 public:
  std::string_view Store(std::string_view text) {
    if (text.size() > left_) Grow(text.size());
    char* const at = next_;
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    used_ += text.size();
    return {at, text.size()};
  }
  size_t bytes() const { return used_; }

 private:
  static constexpr size_t kBlockBytes = size_t{64} << 10;
  void Grow(size_t at_least) {
    const size_t size = at_least > kBlockBytes ? at_least : kBlockBytes;
    blocks_.push_back(std::make_unique<char[]>(size));
    next_ = blocks_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t used_ = 0;
};

}  // namespace layerscope::base
