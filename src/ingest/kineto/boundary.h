#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace layerscope::ingest::kineto {

/// A place where one event probably ends and the next begins: `}` , `,` , `{` and a key that events
/// have. A quote behind `{` cannot stand inside a JSON string (it would be escaped), so in valid
/// JSON this is never in the middle of a string; it may still be inside a nested list of objects,
/// which is why a cut made here is proved by parsing.
struct Boundary {
  size_t end = 0;   ///< one past the `}`
  size_t next = 0;  ///< the `{`
};

/// The last boundary of the text, or the first whose `next` is at or behind `from`.
std::optional<Boundary> FindLastBoundary(std::string_view text);
std::optional<Boundary> FindFirstBoundary(std::string_view text, size_t from);

}  // namespace layerscope::ingest::kineto
