#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/json/document.h"

namespace layerscope::json {

/// Reads JSON text token by token, without a tree: files with millions of numbers (benchmark
/// results), whose digits the caller wants as they are written. Several documents may stand one
/// behind the other (JSON lines). Reads bare NaN, Infinity and -Infinity as numbers; raw control
/// characters and bad UTF-8 inside strings are passed on. Memory: the depth of nesting.
class Scanner {
 public:
  enum class Token : uint8_t {
    kBeginObject,
    kEndObject,
    kBeginArray,
    kEndArray,
    kKey,
    kString,
    kNumber,
    kTrue,
    kFalse,
    kNull,
    kEnd,    ///< the text ends between documents
    kError,  ///< no JSON: what() and offset() say why; every further token is this
  };

  /// `text` must outlive the scanner. A byte order mark in front is passed over.
  explicit Scanner(std::string_view text);

  Token Next();
  /// Passes over the next value, whatever it holds; false at its error, or where none stands.
  bool SkipValue();
  /// Passes over the rest of the innermost open array or object.
  bool LeaveContainer();

  /// Of kKey and kString decoded, of kNumber as written; until the next token.
  std::string_view text() const { return value_; }
  /// Open arrays and objects.
  size_t depth() const { return open_.size(); }
  /// Where the next token is looked for; after kError where the fault lies.
  size_t offset() const { return at_; }
  /// Of kError, in words.
  const std::string& what() const { return what_; }
  /// Of kError: the text ends too early. What was read so far is no fault.
  bool cut() const { return cut_; }

 private:
  enum class Place : uint8_t { kDocument, kFirst, kNext, kAfterKey, kFailed };

  Token Value();
  Token Open(bool object);
  Token Close(char bracket);
  Token Word();
  /// Reads the string whose opening quote is at at_.
  bool String();
  Token Fail(std::string_view what);
  Token Cut();
  bool SkipBlanks();
  void EndValue();

  std::string_view all_;
  size_t at_ = 0;
  Place place_ = Place::kDocument;
  std::vector<bool> open_;  ///< true: an object
  std::string_view value_;
  std::string decoded_;
  std::string what_;
  bool cut_ = false;
};

}  // namespace layerscope::json
