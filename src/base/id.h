#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace layerscope::base {

/// An index that cannot be mixed up with another kind of index. `Tag` only names the kind.
template <typename Tag, typename Rep = uint32_t>
class Id {
 public:
  using Index = Rep;
  static constexpr Rep kInvalidIndex = std::numeric_limits<Rep>::max();

  constexpr Id() = default;
  constexpr explicit Id(size_t index) : index_(static_cast<Rep>(index)) {}

  static const Id kInvalid;

  constexpr size_t index() const { return index_; }
  constexpr bool valid() const { return index_ != kInvalidIndex; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  Rep index_ = kInvalidIndex;
};

template <typename Tag, typename Rep>
inline constexpr Id<Tag, Rep> Id<Tag, Rep>::kInvalid{};

}  // namespace layerscope::base

template <typename Tag, typename Rep>
struct std::hash<layerscope::base::Id<Tag, Rep>> {
  size_t operator()(layerscope::base::Id<Tag, Rep> id) const noexcept { return id.index(); }
};
