#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/table/table.h"

namespace layerscope::table {

class Value;
/// Keys keep the order in which they were added: it is the order of the JSON.
using Object = std::vector<std::pair<std::string, Value>>;
using Array = std::vector<Value>;

/// The `data` of an envelope: small nested values by value, large row sets as Tables (an array of
/// objects in JSON).
class Value {
 public:
  using Variant = std::variant<Null, bool, int64_t, double, std::string, std::shared_ptr<Object>,
                               std::shared_ptr<Array>, std::shared_ptr<Table>>;

  Value() = default;
  // Out of line: g++ 12 reports uninitialized variants where it inlines them into lists of members.
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  Value(Null) {}                                                   // NOLINT(*-explicit-*)
  Value(bool value) : variant_(value) {}                           // NOLINT(*-explicit-*)
  Value(int64_t value) : variant_(value) {}                        // NOLINT(*-explicit-*)
  Value(int value) : variant_(int64_t{value}) {}                   // NOLINT(*-explicit-*)
  Value(size_t value) : variant_(static_cast<int64_t>(value)) {}   // NOLINT(*-explicit-*)
  Value(double value) : variant_(value) {}                         // NOLINT(*-explicit-*)
  Value(std::string value) : variant_(std::move(value)) {}         // NOLINT(*-explicit-*)
  Value(const char* value) : variant_(std::string(value)) {}       // NOLINT(*-explicit-*)
  Value(std::string_view value) : variant_(std::string(value)) {}  // NOLINT(*-explicit-*)
  Value(Object value)                                              // NOLINT(*-explicit-*)
      : variant_(std::make_shared<Object>(std::move(value))) {}
  Value(Array value)  // NOLINT(*-explicit-*)
      : variant_(std::make_shared<Array>(std::move(value))) {}
  Value(Table value)  // NOLINT(*-explicit-*)
      : variant_(std::make_shared<Table>(std::move(value))) {}

  const Variant& variant() const { return variant_; }

 private:
  Variant variant_;
};

}  // namespace layerscope::table
