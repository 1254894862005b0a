#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace layerscope::attribution {

/// A longer name is no path: what looks at each of its parts must not cost the square of its
/// length.
inline constexpr size_t kLongestPath = 1024;

/// The number that one part of a module path is, as entries of a list of modules have it: 7 of the
/// "7" in "model.layers.7". -1: the part is a name.
int64_t PartNumber(std::string_view part);

/// "mlp" of "model.layers.7.mlp", "7" of "model.layers.7"; the whole path where it has one part.
std::string_view LastPart(std::string_view path);

/// "model.layers" and 7 of "model.layers.7".
struct NumberedPath {
  std::string_view list;  ///< the whole path where it ends in no number; empty: the path is one
  int64_t number = -1;    ///< -1: none
};
NumberedPath SplitNumber(std::string_view path);

/// Without the numbers that it ends in: "blocks" of "blocks.3.0". The first part stays.
std::string_view WithoutNumbers(std::string_view path);

/// Where the first number of a path stands: the layer, in "model.layers.7.mlp.experts.3".
struct NumberedPart {
  size_t begin = 0;
  size_t end = 0;
  int64_t number = -1;  ///< -1: the path has none
};
NumberedPart FirstNumber(std::string_view path);

}  // namespace layerscope::attribution
