#include "src/ingest/nsys/nvtx_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "src/trace/module_annotation.h"

namespace layerscope::ingest::nsys {
namespace {

/// Is `key` a key of the dictionary itself, not of one inside it?
bool HasKey(std::string_view dictionary, std::string_view key) {
  int depth = 0;
  for (size_t at = 0; at < dictionary.size(); ++at) {
    const char c = dictionary[at];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != '\'' && c != '"') continue;
    const size_t end = dictionary.find(c, at + 1);
    if (end == std::string_view::npos) return false;
    const std::string_view word = dictionary.substr(at + 1, end - at - 1);
    const size_t next = std::min(dictionary.find_first_not_of(' ', end + 1), dictionary.size());
    at = end;
    if (depth == 1 && word == key && dictionary.substr(next).starts_with(':')) return true;
  }
  return false;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Takes a number from the front.
bool TakeNumber(std::string_view& rest) {
  size_t n = rest.starts_with('-') ? 1 : 0;
  const size_t first = n;
  while (n < rest.size() && IsDigit(rest[n])) ++n;
  rest.remove_prefix(n);
  return n > first;
}

/// Takes a list from the front, up to the bracket that closes it.
std::optional<std::string_view> TakeList(std::string_view& rest) {
  int64_t depth = 0;
  for (size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '[') ++depth;
    if (rest[at] == ']' && --depth == 0) {
      const std::string_view list = rest.substr(0, at + 1);
      rest.remove_prefix(at + 1);
      return list;
    }
    if (depth == 0) return std::nullopt;
  }
  return std::nullopt;
}

struct Field {
  std::string_view begin;
  bool is_list;
};
/// In the order in which PyTorch writes them.
constexpr std::array<Field, 4> kFields = {{{", seq = ", false},
                                           {", op_id = ", false},
                                           {", sizes = ", true},
                                           {", input_op_ids = ", true}}};

/// Takes the fields behind an operator's name; false unless `rest` is nothing but such fields.
bool TakeFields(std::string_view rest, std::string_view& sizes) {
  for (const Field& field : kFields) {
    if (!rest.starts_with(field.begin)) continue;
    rest.remove_prefix(field.begin.size());
    if (!field.is_list) {
      if (!TakeNumber(rest)) return false;
      continue;
    }
    const auto list = TakeList(rest);
    if (!list) return false;
    if (field.begin == ", sizes = ") sizes = *list;
  }
  return rest.empty();
}

}  // namespace

NvtxText ReadNvtxText(std::string_view text) {
  if (const auto path = trace::ModulePathOf(text)) {
    const bool is_end = text.starts_with('{') && HasKey(text, "Outputs");
    return {is_end ? NvtxKind::kModuleEnd : NvtxKind::kModule, *path, {}};
  }
  size_t end = std::string_view::npos;
  for (const Field& field : kFields) end = std::min(end, text.find(field.begin));
  std::string_view sizes;
  if (end != std::string_view::npos && end > 0 && TakeFields(text.substr(end), sizes)) {
    return {NvtxKind::kOp, text.substr(0, end), sizes};
  }
  return {NvtxKind::kAnnotation, text, {}};
}

}  // namespace layerscope::ingest::nsys
