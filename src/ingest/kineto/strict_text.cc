#include "src/ingest/kineto/strict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/ingest/kineto/token.h"
#include "src/json/writer.h"

namespace layerscope::ingest::kineto {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Passes the digits at `at`; false where there are none.
bool PassDigits(std::string_view text, size_t& at) {
  const size_t begin = at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at > begin;
}

/// The grammar of RFC 8259, section 6.
bool IsNumber(std::string_view text) {
  size_t at = !text.empty() && text.front() == '-' ? 1 : 0;
  const size_t first = at;
  if (!PassDigits(text, at) || (text[first] == '0' && at > first + 1)) return false;
  if (at < text.size() && text[at] == '.' && !PassDigits(text, ++at)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!PassDigits(text, at)) return false;
  }
  return at == text.size();
}

bool IsScalar(std::string_view text) {
  return text == "null" || text == "true" || text == "false" || text == "NaN" ||
         text == "Infinity" || text == "-Infinity" || IsNumber(text);
}

/// Bytes of the escape whose backslash is text[at]; 0 for what is none.
size_t EscapeBytes(std::string_view text, size_t at) {
  if (at + 1 >= text.size()) return 0;
  const char c = text[at + 1];
  if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) return 2;
  if (c != 'u' || at + 6 > text.size()) return 0;
  const std::string_view digits = text.substr(at + 2, 4);
  return std::all_of(digits.begin(), digits.end(), IsHex) ? 6 : 0;
}

/// Copies token by token and knows what may stand next.
class Mender {
 public:
  Mender(std::string_view text, std::string& out) : text_(text), out_(out) {}

  void Run() {
    out_.clear();
    out_.reserve(text_.size() + 16);
    while (at_ < text_.size()) {
      Token();
      if (open_.empty()) return;
    }
    while (!open_.empty()) Close();
  }

 private:
  enum class Next : uint8_t {
    kFirst,    ///< behind an opening bracket
    kFurther,  ///< behind a comma
    kColon,
    kValue,  ///< behind a colon
    kComma,  ///< or the closing bracket
  };

  bool InObject() const { return !open_.empty() && open_.back() == '{'; }
  bool AtItem() const { return next_ == Next::kFirst || next_ == Next::kFurther; }

  void Token() {
    const char c = text_[at_];
    switch (c) {
      case '{':
      case '[':
        BeforeValue();
        out_ += c;
        open_.push_back(c);
        next_ = Next::kFirst;
        break;
      case '}':
      case ']':
        Close();
        break;
      case ':':
        if (next_ == Next::kColon) {
          out_ += c;
          next_ = Next::kValue;
        }
        break;
      case ',':
        Comma();
        break;
      case '"':
        return String();
      default:
        if (!IsJsonSpace(c)) return Scalar();
        out_ += c;
    }
    ++at_;
  }

  /// What is missing in front of an item: a comma, and in an object a colon or, unless the item is
  /// to be the key, a whole key.
  void BeforeValue() {
    if (next_ == Next::kComma && !open_.empty()) {
      out_ += ',';
      next_ = Next::kFurther;
    }
    if (InObject() && AtItem()) out_ += "\"\":";
    if (next_ == Next::kColon) out_ += ':';
  }

  /// True: the item at hand is a key, which needs no more than a comma.
  bool IsKey() {
    if (!InObject()) return false;
    if (next_ == Next::kComma) {
      out_ += ',';
      next_ = Next::kFurther;
    }
    return AtItem();
  }

  void FinishMember() {
    if (next_ == Next::kColon) out_ += ":null";
    if (next_ == Next::kValue) out_ += "null";
  }

  void Comma() {
    if (AtItem()) return;
    FinishMember();
    comma_at_ = out_.size();
    out_ += ',';
    next_ = Next::kFurther;
  }

  void Close() {
    FinishMember();
    if (next_ == Next::kFurther) out_[comma_at_] = ' ';
    out_ += open_.back() == '{' ? '}' : ']';
    open_.pop_back();
    next_ = Next::kComma;
  }

  void AfterItem(bool was_key) { next_ = was_key ? Next::kColon : Next::kComma; }

  void String() {
    const bool is_key = IsKey();
    if (!is_key) BeforeValue();
    out_ += '"';
    size_t done = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      // A quote behind a stray backslash begins a string here and none for text_repair.h.
      if (static_cast<unsigned char>(text_[at_]) < 0x20) {
        out_.append(text_.substr(done, at_ - done));
        out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(text_[at_]));
        done = ++at_;
        continue;
      }
      if (text_[at_] != '\\') {
        ++at_;
        continue;
      }
      const size_t bytes = EscapeBytes(text_, at_);
      if (bytes == 0) {
        out_.append(text_.substr(done, at_ - done)).append("\\");
        done = at_;
      }
      at_ += std::max<size_t>(bytes, 1);
    }
    out_.append(text_.substr(done, at_ - done));
    out_ += '"';
    if (at_ < text_.size()) ++at_;
    AfterItem(is_key);
  }

  void Scalar() {
    const bool is_key = IsKey();
    if (!is_key) BeforeValue();
    const size_t end = std::min(text_.find_first_of("{}[]:,\" \t\r\n", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    if (is_key || !IsScalar(token)) {
      json::AppendQuoted(token, &out_);
    } else {
      out_ += token;
    }
    at_ = end;
    AfterItem(is_key);
  }

  std::string_view text_;
  std::string& out_;
  size_t at_ = 0;
  std::vector<char> open_;
  Next next_ = Next::kValue;
  size_t comma_at_ = 0;  ///< in `out_`
};

}  // namespace

bool MakeStrict(std::string_view text, std::string& out) {
  Mender(text, out).Run();
  return out != text;
}

}  // namespace layerscope::ingest::kineto
