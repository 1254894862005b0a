#include "src/json/scanner.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "src/json/number_text.h"
#include "src/json/string_body.h"

namespace layerscope::json {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.' || c == '_';
}

}  // namespace

Scanner::Scanner(std::string_view text) : all_(text) {
  if (all_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

bool Scanner::SkipBlanks() {
  at_ = std::min(all_.find_first_not_of(kBlanks, at_), all_.size());
  return at_ < all_.size();
}

Scanner::Token Scanner::Fail(std::string_view what) {
  place_ = Place::kFailed;
  what_ = what;
  return Token::kError;
}

Scanner::Token Scanner::Cut() {
  cut_ = true;
  at_ = all_.size();
  if (open_.empty()) return Fail("the text ends inside a value");
  return Fail(open_.back() ? "the text ends inside an object" : "the text ends inside an array");
}

void Scanner::EndValue() {
  place_ = open_.empty() ? Place::kDocument : Place::kNext;
}

Scanner::Token Scanner::Next() {
  if (place_ == Place::kFailed) return Token::kError;
  if (!SkipBlanks()) return place_ == Place::kDocument ? Token::kEnd : Cut();
  if (place_ == Place::kDocument || place_ == Place::kAfterKey) return Value();
  const char c = all_[at_];
  if (c == ']' || c == '}') return Close(c);
  if (place_ == Place::kNext) {
    if (c != ',') return Fail("a comma or a closing bracket was expected");
    ++at_;
    if (!SkipBlanks()) return Cut();
  }
  if (!open_.back()) return Value();
  if (all_[at_] != '"') return Fail("a key was expected");
  if (!String()) return Token::kError;
  if (!SkipBlanks()) return Cut();
  if (all_[at_] != ':') return Fail("a colon was expected");
  ++at_;
  place_ = Place::kAfterKey;
  return Token::kKey;
}

Scanner::Token Scanner::Value() {
  const char c = all_[at_];
  if (c == '{' || c == '[') return Open(c == '{');
  if (c == '"') {
    if (!String()) return Token::kError;
    EndValue();
    return Token::kString;
  }
  return Word();
}

Scanner::Token Scanner::Open(bool object) {
  if (open_.size() >= static_cast<size_t>(kMaxDepth)) return Fail("nested too deeply");
  ++at_;
  open_.push_back(object);
  place_ = Place::kFirst;
  return object ? Token::kBeginObject : Token::kBeginArray;
}

Scanner::Token Scanner::Close(char bracket) {
  const bool object = bracket == '}';
  if (open_.back() != object) return Fail("a closing bracket of the other kind was expected");
  ++at_;
  open_.pop_back();
  EndValue();
  return object ? Token::kEndObject : Token::kEndArray;
}

/// A number, or one of the words.
Scanner::Token Scanner::Word() {
  size_t end = at_;
  while (end < all_.size() && IsWordCharacter(all_[end])) ++end;
  const std::string_view word = all_.substr(at_, end - at_);
  constexpr std::array<std::pair<std::string_view, Token>, 6> kWords = {
      {{"null", Token::kNull},
       {"true", Token::kTrue},
       {"false", Token::kFalse},
       {"NaN", Token::kNumber},
       {"Infinity", Token::kNumber},
       {"-Infinity", Token::kNumber}}};
  std::optional<Token> token;
  if (IsNumber(word)) token = Token::kNumber;
  for (const auto& [text, meant] : kWords) {
    if (word == text) token = meant;
    // The end of the text may have cut it.
    if (!token && end == all_.size() && !word.empty() && text.starts_with(word)) return Cut();
  }
  // Digits that go on to the end of the text may lack some.
  const bool may_be_cut = end == all_.size() && !open_.empty();
  if (token && !may_be_cut) {
    value_ = word;
    at_ = end;
    EndValue();
    return *token;
  }
  return may_be_cut ? Cut() : Fail("a value was expected");
}

bool Scanner::String() {
  const size_t begin = at_ + 1;
  bool escaped = false;
  size_t end = begin;
  for (;; ++end) {
    end = std::min(all_.find_first_of("\"\\", end), all_.size());
    if (end >= all_.size()) break;
    if (all_[end] == '"') break;
    escaped = true;
    if (++end >= all_.size()) break;
  }
  if (end >= all_.size()) return Cut(), false;
  value_ = all_.substr(begin, end - begin);
  if (escaped) {
    std::optional<std::string> decoded = DecodeStringBody(all_.substr(begin, end - begin + 1));
    if (!decoded) return Fail("a bad escape in this string"), false;
    decoded_ = *std::move(decoded);
    value_ = decoded_;
  }
  at_ = end + 1;
  return true;
}

bool Scanner::SkipValue() {
  switch (Next()) {
    case Token::kBeginObject:
    case Token::kBeginArray:
      return LeaveContainer();
    case Token::kKey:
    case Token::kEndObject:
    case Token::kEndArray:
    case Token::kEnd:
    case Token::kError:
      return false;
    default:
      return true;
  }
}

bool Scanner::LeaveContainer() {
  const size_t outside = depth() - 1;
  while (depth() > outside) {
    if (Next() == Token::kError) return false;
  }
  return true;
}

}  // namespace layerscope::json
