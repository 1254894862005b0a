#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::json {

/// Streaming writer of strict JSON into a string: commas, quotes and escapes are its business.
/// Strings with invalid UTF-8 are written with U+FFFD; NaN and infinities as null. Wrong nesting (a
/// value without a key in an object, an End without its Begin) is a bug and checked.
class Writer {
 public:
  /// indent = 0: one line without spaces except after ':' and ','.
  explicit Writer(int indent = 0) : indent_(indent) {}

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);
  /// The next key, or the next value of an array, begins a line of its own.
  void BreakLine() { breaks_line_ = true; }
  void Null();
  void Bool(bool value);
  void Int(int64_t value);
  void Double(double value);  ///< shortest text that reads back to the same double
  /// The text of a JSON number, as it is.
  void Number(std::string_view text);
  void String(std::string_view value);

  /// What has been written so far; a whole document once every Begin has its End.
  const std::string& text() const { return text_; }
  /// The same, moved out; the writer is then as new.
  std::string Take();
  /// What has been written since the last call, for output in pieces; open objects stay open.
  std::string TakePiece();

 private:
  enum class Container : uint8_t { kObject, kArray };
  struct Level {
    Container container;
    bool has_items;
    bool has_rows;  ///< some item stands on a line of its own
  };

  void BeforeValue();
  void BeforeItem(Level& level);
  void Begin(Container container, char open);
  void End(Container container, char close);
  void Newline();

  int indent_;
  bool breaks_line_ = false;
  bool after_key_ = false;
  std::vector<Level> levels_;
  std::string text_;
};

/// Appends `value` in quotes, escaped; invalid UTF-8 becomes U+FFFD.
void AppendQuoted(std::string_view value, std::string* out);

}  // namespace layerscope::json
