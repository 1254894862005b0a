#include "src/kernel_names/signature.h"

#include <algorithm>
#include <array>
#include <utility>

namespace layerscope::kernel_names {
namespace {

constexpr std::string_view kOperator = "operator";
// How demanglers (GNU, LLVM, NVIDIA's) write a namespace without a name.
constexpr std::array<std::string_view, 4> kUnnamed = {
    "(anonymous namespace)::", "<unnamed>::", "{anonymous}::", "(anonymous class)::"};
constexpr std::string_view kLambda = "{lambda}";

bool IsOperatorWord(std::string_view text, size_t at) {
  return text.substr(at).starts_with(kOperator) && (at == 0 || !IsIdentifierChar(text[at - 1])) &&
         (at + kOperator.size() == text.size() || !IsIdentifierChar(text[at + kOperator.size()]));
}

/// One past "operator…": the symbol belongs to the word, `operator ()` and `operator()` are one.
size_t SkipOperator(std::string_view text, size_t at) {
  size_t end = at + kOperator.size();
  while (end < text.size() && text[end] == ' ') ++end;
  const std::string_view rest = text.substr(end);
  if (rest.starts_with("()") || rest.starts_with("[]")) return end + 2;
  const size_t symbols = std::min(rest.find_first_not_of("<>=-+*/%&|!~^,"), rest.size());
  // "operator<<int>" is operator< of int or operator<< of nothing; only the longest can be wrong,
  // and only in names that nobody launches.
  return end + symbols;
}

/// Which closing bracket of a stack of open ones a character is.
class BracketStack {
 public:
  bool empty() const { return open_.empty(); }
  bool inside_angle() const { return !open_.empty() && open_.back() == '<'; }
  void Push(char open) {
    open_.push_back(open);
    ++count_[Kind(open)];
  }
  /// Drops what was opened since the partner of `close`; a closer without partner is ignored.
  void Close(char close) {
    const size_t kind = Kind(close);
    if (count_[kind] == 0) return;
    while (Kind(open_.back()) != kind) Pop();
    Pop();
  }

 private:
  static size_t Kind(char c) {
    switch (c) {
      case '<':
      case '>':
        return 0;
      case '(':
      case ')':
        return 1;
      case '[':
      case ']':
        return 2;
      default:
        return 3;
    }
  }
  void Pop() {
    --count_[Kind(open_.back())];
    open_.pop_back();
  }

  std::string open_;
  std::array<size_t, 4> count_ = {};
};

class SignatureParser {
 public:
  SignatureParser(std::string_view text, bool is_cpp) : text_(text), is_cpp_(is_cpp) {}

  Signature Parse() {
    while (at_ < text_.size() && !found_parameters_ && !is_text_) Step();
    if (is_text_ || !LooksLikeSignature()) return WholeText();
    result_.is_signature = true;
    ChooseOwnName();
    return std::move(result_);
  }

 private:
  void Step() {
    if (SkipUnnamed()) return;
    if (IsOperatorWord(text_, at_)) {
      const size_t end = SkipOperator(text_, at_);
      for (; at_ < end; ++at_) {
        if (text_[at_] != ' ') result_.qualified += text_[at_];
      }
      return;
    }
    switch (text_[at_]) {
      case ' ':
        return Space();
      case ':':
        return Colon();
      case '<':
        return Arguments();
      case '(':
        return Parenthesis();
      case '{':
      case '[':
        result_.qualified += kLambda;
        at_ = Skip();
        return;
      default:
        result_.qualified += text_[at_++];
    }
  }

  bool SkipUnnamed() {
    for (const std::string_view unnamed : kUnnamed) {
      if (text_[at_] == unnamed[0] && text_.substr(at_).starts_with(unnamed)) {
        at_ += unnamed.size();
        return true;
      }
    }
    return false;
  }

  /// What stood before a space was a type ("void", "std::enable_if<…>::type").
  void Space() {
    had_space_ = had_space_ || !result_.qualified.empty();
    result_.qualified.clear();
    result_.arguments = {};
    ++at_;
  }

  void Colon() {
    result_.qualified += text_[at_++];
    if (at_ < text_.size() && text_[at_] == ':') result_.qualified += text_[at_++];
    result_.arguments = {};
  }

  void Arguments() {
    const size_t open = at_;
    at_ = Skip();
    const size_t close = unclosed_ ? at_ : at_ - 1;
    result_.arguments = text_.substr(open + 1, close - open - 1);
  }

  /// Parameters end the name, unless they are those of an enclosing function ("f(int)::{lambda…").
  void Parenthesis() {
    const bool is_decltype = result_.qualified.ends_with("decltype");
    if (result_.qualified.empty()) {
      is_text_ = true;
      return;
    }
    at_ = Skip();
    std::string_view rest = text_.substr(at_);
    if (rest.starts_with(" const::")) rest.remove_prefix(6), at_ += 6;
    if (is_decltype || rest.starts_with("::")) return;
    constexpr std::string_view kMayFollow = " .&[";
    is_text_ = !rest.empty() && kMayFollow.find(rest[0]) == std::string_view::npos;
    found_parameters_ = true;
  }

  size_t Skip() {
    const size_t end = SkipBracket(text_, at_);
    unclosed_ = end == std::string_view::npos;
    return unclosed_ ? text_.size() : end;
  }

  bool LooksLikeSignature() const {
    if (result_.qualified.empty()) return false;
    return found_parameters_ || is_cpp_ || text_.starts_with("void ") ||
           (!had_space_ && !result_.arguments.empty());
  }

  Signature WholeText() const { return {std::string(text_), 0, {}, false}; }

  /// The last component that names something: a kernel that is a lambda or a call operator goes by
  /// the function or class around it.
  void ChooseOwnName() {
    std::string& name = result_.qualified;
    constexpr std::string_view kCall = "::operator()";
    constexpr std::string_view kInLambda = "::{lambda}";
    for (;;) {
      if (name.ends_with(kCall)) {
        name.resize(name.size() - kCall.size());
      } else if (name.ends_with("::")) {
        name.resize(name.size() - 2);
      } else if (name.ends_with(kInLambda)) {
        name.resize(name.size() - kInLambda.size());
      } else {
        break;
      }
    }
    const size_t colons = name.rfind("::");
    result_.own_begin = colons == std::string::npos ? 0 : colons + 2;
  }

  std::string_view text_;
  bool is_cpp_;
  size_t at_ = 0;
  Signature result_;
  bool had_space_ = false;
  bool found_parameters_ = false;
  bool is_text_ = false;
  bool unclosed_ = false;
};

}  // namespace

bool IsIdentifierChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

size_t SkipIdentifier(std::string_view text, size_t begin) {
  while (begin < text.size() && IsIdentifierChar(text[begin])) ++begin;
  return begin;
}

size_t SkipBracket(std::string_view text, size_t open) {
  BracketStack stack;
  size_t after_operator = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == 'o' && IsOperatorWord(text, i)) {
      after_operator = SkipOperator(text, i);
      i = after_operator - 1;
      continue;
    }
    switch (text[i]) {
      case '(':
      case '[':
      case '{':
        stack.Push(text[i]);
        break;
      case '<':
        // After a closing parenthesis it compares two expressions, except after "operator()".
        if (i == open || text[i - 1] != ')' || i == after_operator) stack.Push('<');
        break;
      case '>':
        if (stack.inside_angle() && text[i - 1] != '-') stack.Close('>');
        break;
      case ')':
      case ']':
      case '}':
        stack.Close(text[i]);
        break;
      default:
        break;
    }
    if (stack.empty()) return i + 1;
  }
  return std::string_view::npos;
}

Signature ParseSignature(std::string_view name, bool is_cpp) {
  return SignatureParser(name, is_cpp).Parse();
}

}  // namespace layerscope::kernel_names
