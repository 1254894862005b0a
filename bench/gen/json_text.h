#pragma once
// Appends JSON text to a string in one of the white-space styles that real traces have.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/gen/options.h"

namespace layerscope::gen {

class JsonText {
 public:
  JsonText(std::string* out, Layout layout, int depth = 0)
      : out_(out), layout_(layout), depth_(depth) {}

  JsonText& Object() { return Begin('{'); }
  JsonText& Array() { return Begin('['); }
  JsonText& EndObject() { return End('}'); }
  JsonText& EndArray() { return End(']'); }

  JsonText& Key(std::string_view key) {
    Separate();
    Quote(key);
    out_->append(layout_ == Layout::kCompact ? ":" : ": ");
    after_key_ = true;
    return *this;
  }
  JsonText& String(std::string_view text) {
    Separate();
    Quote(text);
    return *this;
  }
  JsonText& Int(int64_t value) {
    Separate();
    AppendInt(out_, value);
    return *this;
  }
  // Text that is JSON already.
  JsonText& Raw(std::string_view text) {
    Separate();
    out_->append(text);
    return *this;
  }
  // Members that were rendered before, each separated as this style does.
  JsonText& Members(std::string_view text) {
    if (text.empty()) return *this;
    return Raw(text);
  }
  // The string already holds members of this object.
  JsonText& Continue() {
    first_ = false;
    return *this;
  }
  // In torch's layouts the next member stands on a line of its own, `indent` spaces in.
  JsonText& Line(int indent) {
    if (IsTorch()) line_ = indent;
    return *this;
  }

  bool IsTorch() const { return layout_ == Layout::kTorch || layout_ == Layout::kTorchLines; }
  Layout layout() const { return layout_; }
  int depth() const { return depth_; }
  std::string* out() { return out_; }

  static void AppendInt(std::string* out, int64_t value) {
    char text[24];
    const auto result = std::to_chars(text, text + sizeof(text), value);
    out->append(text, static_cast<size_t>(result.ptr - text));
  }

 private:
  JsonText& Begin(char open) {
    Separate();
    out_->push_back(open);
    ++depth_;
    first_ = true;
    return *this;
  }
  JsonText& End(char close) {
    --depth_;
    if (layout_ == Layout::kIndent && !first_) NewLine(4 * depth_);
    if (line_ >= 0) NewLine(line_);
    line_ = -1;
    out_->push_back(close);
    first_ = false;
    return *this;
  }
  void Separate() {
    if (after_key_) {
      after_key_ = false;
      first_ = false;
      return;
    }
    if (!first_) out_->push_back(',');
    if (layout_ == Layout::kIndent && depth_ > 0) {
      NewLine(4 * depth_);
    } else if (line_ >= 0) {
      NewLine(line_);
    } else if (!first_ && layout_ != Layout::kCompact) {
      out_->push_back(' ');
    }
    line_ = -1;
    first_ = false;
  }
  void NewLine(int spaces) {
    out_->push_back('\n');
    out_->append(static_cast<size_t>(spaces), ' ');
  }
  void Quote(std::string_view text);

  std::string* out_;
  Layout layout_;
  int depth_;
  int line_ = -1;
  bool first_ = true;
  bool after_key_ = false;
};

inline void JsonText::Quote(std::string_view text) {
  out_->push_back('"');
  if (text.find_first_of("\"\\\n\t") == std::string_view::npos) {
    out_->append(text);
  } else {
    for (const char c : text) {
      if (c == '"' || c == '\\') out_->push_back('\\');
      if (c == '\n' || c == '\t') {
        out_->append(c == '\n' ? "\\n" : "\\t");
      } else {
        out_->push_back(c);
      }
    }
  }
  out_->push_back('"');
}

}  // namespace layerscope::gen
