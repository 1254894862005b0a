#include "src/json/document.h"

#include <cmath>

#include "src/json/number_text.h"

namespace layerscope::json {
namespace {

/// The value of an integral double, when an int64_t holds it.
std::optional<int64_t> IntegerOf(double real) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(real >= -kLimit && real < kLimit) || std::trunc(real) != real) return std::nullopt;
  return static_cast<int64_t>(real);
}

}  // namespace

std::optional<bool> Node::AsBool() const {
  const bool* const held = std::get_if<bool>(&value);
  return held != nullptr ? std::optional(*held) : std::nullopt;
}

std::optional<int64_t> Node::AsInt() const {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return IntegerOf(*real);
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  const auto number = ParseNumber(*text);
  if (!number) return std::nullopt;
  if (const auto* integer = std::get_if<int64_t>(&*number)) return *integer;
  return IntegerOf(std::get<double>(*number));
}

std::optional<double> Node::AsDouble() const {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  const auto number = ParseNumber(*text);
  if (!number) return std::nullopt;
  return std::visit([](auto held) { return static_cast<double>(held); }, *number);
}

std::optional<std::string_view> Node::AsString() const {
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr ? std::optional<std::string_view>(*text) : std::nullopt;
}

const std::vector<Node>& Node::items() const {
  static const std::vector<Node> kNone;
  const auto* const held = std::get_if<std::vector<Node>>(&value);
  return held != nullptr ? *held : kNone;
}

const std::vector<Node::Member>& Node::members() const {
  static const std::vector<Member> kNone;
  const auto* const held = std::get_if<std::vector<Member>>(&value);
  return held != nullptr ? *held : kNone;
}

const Node* Node::Find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

}  // namespace layerscope::json
