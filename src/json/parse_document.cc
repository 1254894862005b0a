#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/string_map.h"
#include "src/json/document.h"
#include "src/json/number_text.h"
#include "src/json/string_body.h"
#include "src/json/utf8.h"

namespace layerscope::json {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";
/// Objects up to this size are searched for duplicate keys pair by pair.
constexpr size_t kFewMembers = 16;

base::Error NotJson(size_t offset, std::string_view what) {
  return {base::ErrorCode::kInvalidInput,
          "at byte " + std::to_string(offset) + ": " + std::string(what),
          "it must be one complete JSON document (NaN and Infinity are accepted)"};
}

/// Of several members with one key the last value stays, in the place of the first.
void KeepLastOfEachKey(std::vector<Node::Member>* members) {
  if (members->size() <= kFewMembers) {
    for (size_t i = 1; i < members->size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if ((*members)[i].first != (*members)[j].first) continue;
        (*members)[j].second = std::move((*members)[i].second);
        members->erase(members->begin() + static_cast<std::ptrdiff_t>(i--));
        break;
      }
    }
    return;
  }
  base::StringMap<size_t> place_of;
  for (size_t i = 0; i < members->size(); ++i) place_of.try_emplace((*members)[i].first, i);
  if (place_of.size() == members->size()) return;
  std::vector<Node::Member> kept;
  kept.reserve(place_of.size());
  place_of.clear();
  for (const Node::Member& member : *members) place_of.try_emplace(member.first, place_of.size());
  kept.resize(place_of.size());
  for (Node::Member& member : *members) {
    Node::Member& target = kept[place_of.at(member.first)];
    target.first = member.first;  // a copy: the map's keys are views of the original
    target.second = std::move(member.second);
  }
  *members = std::move(kept);
}

/// Where stage one of simdjson, which reports no place, must have stumbled over a raw control
/// character inside a string.
size_t ControlCharacterOffset(std::string_view text) {
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\') {
      ++at;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (in_string && static_cast<uint8_t>(c) < 0x20) {
      return at;
    }
  }
  return text.size();
}

/// "an array" or "an object" where the text ends inside one; null where its brackets do not match,
/// or all are closed.
const char* OpenAtEnd(std::string_view text) {
  std::string open;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      open.push_back(c);
    } else if (c == ']' || c == '}') {
      if (open.empty() || open.back() != (c == ']' ? '[' : '{')) return nullptr;
      open.pop_back();
    }
  }
  if (open.empty()) return nullptr;
  return open.back() == '[' ? "an array" : "an object";
}

base::Error StageOneError(std::string_view text, simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return NotJson(ValidUtf8Bytes(text), "invalid UTF-8");
    case simdjson::UNCLOSED_STRING:
      return NotJson(text.size(), "the text ends inside a string");
    case simdjson::UNESCAPED_CHARS:
      return NotJson(ControlCharacterOffset(text), "unescaped control character in a string");
    default:
      return NotJson(0, simdjson::error_message(code));
  }
}

/// Turns simdjson's cursor into a tree. The text is parsed as the only item of an array that is put
/// around it, so that documents which are a mere scalar need no path of their own.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string_view text) : size_(text.size()) {
    wrapped_.reserve(text.size() + 2 + simdjson::SIMDJSON_PADDING);
    wrapped_.append("[").append(text).append("]");
  }

  base::Result<Node> Build() {
    ondemand::parser parser;
    ondemand::document document;
    const simdjson::error_code code =
        parser.iterate(wrapped_.data(), wrapped_.size(), wrapped_.capacity()).get(document);
    if (code != simdjson::SUCCESS) return StageOneError(Inner(), code);
    document_ = &document;
    Node root;
    if (BuildRoot(&root)) return root;
    if (const char* const open = OpenAtEnd(Inner()); open != nullptr && FailedInLastToken()) {
      return NotJson(size_, std::string("the document ends inside ") + open);
    }
    return NotJson(offset_, what_);
  }

 private:
  /// What is cut off is noticed where the text ends, not before.
  bool FailedInLastToken() const {
    return Inner().substr(offset_).find_first_of(",:[]{}") == std::string_view::npos;
  }
  std::string_view Inner() const { return std::string_view(wrapped_).substr(1, size_); }

  bool BuildRoot(Node* root) {
    ondemand::array outer;
    if (const auto code = document_->get_array().get(outer)) return Fail(code);
    size_t count = 0;
    for (simdjson::simdjson_result<ondemand::value> item : outer) {
      if (item.error()) {
        return count == 0 ? Fail(item.error()) : FailHere("text after the document");
      }
      ondemand::value value = item.value_unsafe();
      if (++count > 1) return FailAt(value.raw_json_token().data(), "text after the document");
      if (!BuildValue(value, 0, root)) return false;
    }
    if (count == 0) return FailAt(wrapped_.data() + 1, "a value was expected");
    // simdjson has no location to offer exactly when every token is used up.
    const bool at_end = document_->current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end || FailHere("text after the document");
  }

  bool BuildValue(ondemand::value value, int depth, Node* out) {
    const std::string_view token = value.raw_json_token();
    switch (token.front()) {
      case '[':
        return depth < kMaxDepth ? BuildArray(value, depth + 1, out)
                                 : FailAt(token.data(), "nested too deep");
      case '{':
        return depth < kMaxDepth ? BuildObject(value, depth + 1, out)
                                 : FailAt(token.data(), "nested too deep");
      case '"':
        return BuildString(value, out);
      default:
        return BuildScalar(token, out);
    }
  }

  bool BuildArray(ondemand::value value, int depth, Node* out) {
    ondemand::array array;
    if (const auto code = value.get_array().get(array)) return Fail(code);
    std::vector<Node> items;
    for (simdjson::simdjson_result<ondemand::value> item : array) {
      if (item.error()) return Fail(item.error());
      if (!BuildValue(item.value_unsafe(), depth, &items.emplace_back())) return false;
    }
    out->value = std::move(items);
    return true;
  }

  bool BuildObject(ondemand::value value, int depth, Node* out) {
    ondemand::object object;
    if (const auto code = value.get_object().get(object)) return Fail(code);
    std::vector<Node::Member> members;
    for (simdjson::simdjson_result<ondemand::field> item : object) {
      if (item.error()) return Fail(item.error());
      ondemand::field field = item.value_unsafe();
      Node::Member& member = members.emplace_back();
      const char* const key_at = field.key().raw();
      if (!Decode(field.unescaped_key(), key_at, &member.first)) return false;
      if (!BuildValue(field.value(), depth, &member.second)) return false;
    }
    KeepLastOfEachKey(&members);
    out->value = std::move(members);
    return true;
  }

  bool BuildString(ondemand::value value, Node* out) {
    const char* const at = value.raw_json_token().data() + 1;
    return Decode(value.get_string(), at, &out->value.emplace<std::string>());
  }

  /// Takes simdjson's reading of the string whose body starts at `body`, or reads it ourselves.
  bool Decode(simdjson::simdjson_result<std::string_view> read, const char* body,
              std::string* out) {
    if (!read.error()) {
      out->assign(read.value_unsafe());
      return true;
    }
    const auto rest = static_cast<size_t>(wrapped_.data() + wrapped_.size() - body);
    std::optional<std::string> decoded = DecodeStringBody(std::string_view(body, rest));
    if (!decoded) return FailAt(body - 1, "a bad escape in this string");
    *out = *std::move(decoded);
    return true;
  }

  bool BuildScalar(std::string_view token, Node* out) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::string_view word = token.substr(0, token.find_last_not_of(kBlanks) + 1);
    if (word == "null") {
      out->value = std::monostate();
    } else if (word == "true" || word == "false") {
      out->value = word == "true";
    } else if (word == "NaN") {
      out->value = std::numeric_limits<double>::quiet_NaN();
    } else if (word == "Infinity" || word == "-Infinity") {
      out->value = word == "Infinity" ? kInfinity : -kInfinity;
    } else if (const auto number = ParseNumber(word)) {
      std::visit([out](auto held) { out->value = held; }, *number);
    } else {
      return FailAt(token.data(), "a value was expected");
    }
    return true;
  }

  bool FailAt(const char* at, std::string_view what) {
    const std::ptrdiff_t offset = at - wrapped_.data() - 1;
    offset_ = std::min(static_cast<size_t>(std::max<std::ptrdiff_t>(offset, 0)), size_);
    what_ = what;
    return false;
  }
  bool FailHere(std::string_view what) {
    const char* at = nullptr;
    if (document_->current_location().get(at)) at = wrapped_.data() + wrapped_.size();
    return FailAt(at, what);
  }
  bool Fail(simdjson::error_code code) { return FailHere(simdjson::error_message(code)); }

  size_t size_;
  std::string wrapped_;
  ondemand::document* document_ = nullptr;
  size_t offset_ = 0;
  std::string what_;
};

}  // namespace

base::Result<Node> ParseDocument(std::string_view text) {
  const size_t mark = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (text.find_first_not_of(kBlanks, mark) == std::string_view::npos) {
    return NotJson(text.size(), "the document is empty");
  }
  // The mark stays in front as blanks, so that offsets are those of the caller's bytes.
  if (mark == 0) return TreeBuilder(text).Build();
  return TreeBuilder(std::string(mark, ' ').append(text.substr(mark))).Build();
}

}  // namespace layerscope::json
