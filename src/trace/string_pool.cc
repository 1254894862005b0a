#include "src/trace/string_pool.h"

namespace layerscope::trace {

StringPool::StringPool() = default;

StringId StringPool::Intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const std::string_view stored = arena_.Store(text);
  const StringId id(views_.size());
  views_.push_back(stored);
  ids_.emplace(stored, id);
  return id;
}

StringId StringPool::Find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? StringId() : found->second;
}

size_t StringPool::bytes() const {
  return arena_.bytes() + views_.capacity() * sizeof(views_[0]) +
         ids_.bucket_count() * (sizeof(std::string_view) + sizeof(StringId) + sizeof(void*));
}

}  // namespace layerscope::trace
