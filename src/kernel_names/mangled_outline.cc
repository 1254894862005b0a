#include "src/kernel_names/mangled_outline.h"

#include <algorithm>
#include <cstddef>

namespace layerscope::kernel_names {
namespace {

constexpr size_t kMaxArgumentBytes = 160;
constexpr std::string_view kUnnamedNamespace = "_GLOBAL__N_";

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

class Outliner {
 public:
  explicit Outliner(std::string_view mangled) : text_(mangled) {}

  std::string Outline() {
    if (!text_.starts_with("_Z")) return {};
    at_ = 2;
    nested_ = Peek() == 'N';
    if (nested_) ++at_;
    while (at_ < text_.size() && Component()) {
    }
    if (name_.empty()) return {};
    const std::string arguments = arguments_.empty() ? "" : "<" + arguments_ + ">";
    return name_ + arguments + "(...)";
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// One part of the function's name; false after the last.
  bool Component() {
    const char c = Peek();
    if (IsDigit(c)) {
      if (!nested_ && !name_.empty()) return false;
      const std::string_view name = SourceName();
      if (name.empty()) return false;
      arguments_.clear();
      Join(name_, "::", name);
      return true;
    }
    if (c == 'S') {
      SkipSubstitution();
      return nested_ || name_.empty();
    }
    if (c == 'I' && !name_.empty()) {
      TemplateArguments();
      return nested_;
    }
    // Qualifiers (const, volatile, &), internal linkage.
    if (c != 'K' && c != 'V' && c != 'r' && c != 'R' && c != 'O' && c != 'L') return false;
    ++at_;
    return true;
  }

  /// <length><identifier>; a cut name gives what is left of it.
  std::string_view SourceName() {
    size_t length = 0;
    while (IsDigit(Peek()) && length <= text_.size()) {
      length = length * 10 + static_cast<size_t>(text_[at_++] - '0');
    }
    const std::string_view name = text_.substr(at_, length);
    at_ += name.size();
    return name.starts_with(kUnnamedNamespace) ? "(anonymous namespace)" : name;
  }

  /// S_, S1A_, St, Sa, …
  void SkipSubstitution() {
    ++at_;
    if (Peek() != '_' && !IsDigit(Peek()) && !IsUpper(Peek())) {
      if (at_ < text_.size()) ++at_;
      return;
    }
    while (IsDigit(Peek()) || IsUpper(Peek())) ++at_;
    if (Peek() == '_') ++at_;
  }

  /// I … E, keeping the names inside: nested ones joined by "::", the others by ", ".
  void TemplateArguments() {
    size_t depth = 0;
    bool follows_name = false;
    do {
      const char c = Peek();
      if (IsDigit(c)) {
        const std::string_view name = SourceName();
        if (!name.empty() && arguments_.size() < kMaxArgumentBytes)
          Join(arguments_, follows_name ? "::" : ", ", name);
        follows_name = true;
        continue;
      }
      follows_name = false;
      if (c == 'S') {
        SkipSubstitution();
      } else if (c == 'T') {
        SkipTemplateParameter();
      } else if (c == 'D') {
        SkipBuiltin();
      } else if (c == 'L') {
        if (SkipLiteral()) continue;
        ++depth;
      } else {
        if (c == 'I' || c == 'N' || c == 'X' || c == 'J' || c == 'F') ++depth;
        if (c == 'E') --depth;
        ++at_;
      }
    } while (depth > 0 && at_ < text_.size());
    Join(arguments_, ", ", "...");
  }

  /// T_, T0_, and the newer Tn, Ty in front of an argument.
  void SkipTemplateParameter() {
    ++at_;
    if (Peek() == '_' || IsDigit(Peek())) {
      while (IsDigit(Peek())) ++at_;
    }
    if (at_ < text_.size()) ++at_;
  }

  /// Dn, Dh, DF16_, DF16b, …
  void SkipBuiltin() {
    ++at_;
    const bool is_float = Peek() == 'F';
    if (at_ < text_.size()) ++at_;
    if (!is_float) return;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '_' || Peek() == 'b' || Peek() == 'x') ++at_;
  }

  /// L<type letter><number>E whole; of other literals only the L (their E closes a level).
  bool SkipLiteral() {
    ++at_;
    size_t end = at_ + 1;
    if (at_ >= text_.size() || IsDigit(text_[at_]) || IsUpper(text_[at_]) || text_[at_] == '_') {
      return false;
    }
    while (end < text_.size() && (IsDigit(text_[end]) || text_[end] == 'n')) ++end;
    if (end >= text_.size() || text_[end] != 'E') return false;
    at_ = end + 1;
    return true;
  }

  static void Join(std::string& list, std::string_view separator, std::string_view name) {
    if (!list.empty()) list += separator;
    list += name;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool nested_ = false;
  std::string name_;
  std::string arguments_;
};

}  // namespace

std::string OutlineMangledName(std::string_view mangled) {
  return Outliner(mangled).Outline();
}

}  // namespace layerscope::kernel_names
