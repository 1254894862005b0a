#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/result.h"

namespace layerscope::json {

/// A small JSON document as a tree (configs, metadata; not traces). Also reads bare NaN, Infinity
/// and -Infinity, which Python writes. Duplicate keys: the last wins, in the place of the first.
class Node {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };
  struct Member;  ///< `first` is the key, `second` the value

  Kind kind() const { return static_cast<Kind>(value.index()); }
  bool IsObject() const { return kind() == Kind::kObject; }
  bool IsArray() const { return kind() == Kind::kArray; }
  std::optional<bool> AsBool() const;
  std::optional<int64_t> AsInt() const;    ///< integers, doubles that are integral, numeric strings
  std::optional<double> AsDouble() const;  ///< numbers (also NaN, infinities) and numeric strings
  std::optional<std::string_view> AsString() const;
  const std::vector<Node>& items() const;      ///< empty when not an array
  const std::vector<Member>& members() const;  ///< empty when not an object
  /// The member of that name, or null when absent or not an object.
  const Node* Find(std::string_view key) const;

  /// In the order of Kind.
  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<Node>,
               std::vector<Member>>
      value;
};

// Not a std::pair: libstdc++'s cannot hold a type that is not complete yet under clang 14.
struct Node::Member {
  std::string first;
  Node second;
};

/// Deeper nesting is refused: no config comes near it, and the tree is walked recursively.
inline constexpr int kMaxDepth = 256;

/// One JSON document (RFC 8259), a UTF-8 byte order mark in front tolerated. Integers beyond int64
/// become doubles. kInvalidInput with the byte offset when it is no JSON or nests deeper than
/// kMaxDepth. Takes at worst about 40 bytes of memory per byte of text.
base::Result<Node> ParseDocument(std::string_view text);

}  // namespace layerscope::json
