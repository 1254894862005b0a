#include "src/json/writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "src/base/check.h"
#include "src/json/utf8.h"

namespace layerscope::json {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
// The longest shortest-form double has 24 characters: -2.2250738585072014e-308.
constexpr size_t kNumberBytes = 32;

/// Bytes that stand for themselves inside a JSON string and need no look at their neighbours.
constexpr std::array<bool, 256> MakePlain() {
  std::array<bool, 256> plain{};
  for (size_t byte = 0x20; byte < 0x7F; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = MakePlain();

/// Control characters up to U+009F, '"' and '\\'.
void AppendEscape(char c, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    case '\b':
      out->append("\\b");
      return;
    case '\f':
      out->append("\\f");
      return;
    default:
      out->append("\\u00");
      out->push_back(kHex[static_cast<uint8_t>(c) >> 4]);
      out->push_back(kHex[static_cast<uint8_t>(c) & 0xF]);
  }
}

template <typename T>
void AppendNumber(T value, std::string* out) {
  std::array<char, kNumberBytes> digits;
  const std::to_chars_result end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out->append(digits.data(), end.ptr);
}

}  // namespace

void AppendQuoted(std::string_view value, std::string* out) {
  out->push_back('"');
  size_t done = 0;
  size_t at = 0;
  while (at < value.size()) {
    const auto byte = static_cast<uint8_t>(value[at]);
    if (kPlain[byte]) [[likely]] {
      ++at;
      continue;
    }
    if (byte >= 0x80) {
      const Utf8Unit unit = FirstUtf8Unit(value.substr(at));
      if (!unit.valid) {
        out->append(value, done, at - done).append(kReplacement);
        done = at + unit.bytes;
      } else if (byte == 0xC2 && static_cast<uint8_t>(value[at + 1]) < 0xA0) {
        // U+0080 to U+009F: JSON takes them as they are, terminals as commands.
        out->append(value, done, at - done);
        AppendEscape(value[at + 1], out);
        done = at + unit.bytes;
      }
      at += unit.bytes;
      continue;
    }
    out->append(value, done, at - done);
    AppendEscape(value[at], out);
    done = ++at;
  }
  out->append(value, done, at - done);
  out->push_back('"');
}

void Writer::BeginObject() {
  Begin(Container::kObject, '{');
}
void Writer::EndObject() {
  End(Container::kObject, '}');
}
void Writer::BeginArray() {
  Begin(Container::kArray, '[');
}
void Writer::EndArray() {
  End(Container::kArray, ']');
}

void Writer::Key(std::string_view key) {
  LS_CHECK(!levels_.empty() && levels_.back().container == Container::kObject && !after_key_,
           "a key outside of an object, or two keys in a row");
  BeforeItem(levels_.back());
  AppendQuoted(key, &text_);
  text_.append(": ");
  after_key_ = true;
}

void Writer::Null() {
  BeforeValue();
  text_.append("null");
}

void Writer::Bool(bool value) {
  BeforeValue();
  text_.append(value ? "true" : "false");
}

void Writer::Int(int64_t value) {
  BeforeValue();
  AppendNumber(value, &text_);
}

void Writer::Double(double value) {
  if (!std::isfinite(value)) return Null();
  BeforeValue();
  AppendNumber(value, &text_);
}

void Writer::Number(std::string_view text) {
  BeforeValue();
  text_.append(text);
}

void Writer::String(std::string_view value) {
  BeforeValue();
  AppendQuoted(value, &text_);
}

std::string Writer::Take() {
  LS_CHECK(levels_.empty(), "a document with an open object or array");
  return std::exchange(text_, {});
}

std::string Writer::TakePiece() {
  return std::exchange(text_, {});
}

void Writer::BeforeValue() {
  if (levels_.empty()) return;
  if (std::exchange(after_key_, false)) return;
  LS_CHECK(levels_.back().container == Container::kArray, "a value without a key in an object");
  BeforeItem(levels_.back());
}

void Writer::BeforeItem(Level& level) {
  const bool breaks = std::exchange(breaks_line_, false) || indent_ > 0;
  if (level.has_items) text_.append(breaks ? "," : ", ");
  level.has_items = true;
  level.has_rows |= breaks;
  if (breaks) Newline();
}

void Writer::Begin(Container container, char open) {
  BeforeValue();
  text_.push_back(open);
  levels_.push_back({container, false, false});
}

void Writer::End(Container container, char close) {
  LS_CHECK(!levels_.empty() && levels_.back().container == container && !after_key_,
           "an end that does not match its begin");
  const bool had_rows = levels_.back().has_rows;
  levels_.pop_back();
  if (had_rows) Newline();
  text_.push_back(close);
}

void Writer::Newline() {
  text_.push_back('\n');
  text_.append(levels_.size() * static_cast<size_t>(indent_), ' ');
}

}  // namespace layerscope::json
