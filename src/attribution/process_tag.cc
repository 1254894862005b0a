#include "src/attribution/process_tag.h"

namespace layerscope::attribution {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSpaces = " \t";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string_view Bracketed(std::string_view label) {
  if (label.empty()) return {};
  if (label.front() == '[') {
    const size_t close = label.find(']');
    if (close != std::string_view::npos) return label.substr(0, close + 1);
  }
  if (label.back() == ']') {
    const size_t open = label.rfind('[');
    if (open != std::string_view::npos) return label.substr(open);
  }
  return {};
}

/// Between two numbers the one that a separator sets apart is the pid: "0/1234" but "1234_rank0".
bool EndsWithSeparator(std::string_view text) {
  return !text.empty() && std::string_view(" /:_.|").find(text.back()) != std::string_view::npos;
}

}  // namespace

std::string_view ProcessTag(std::string_view label) {
  label = Trim(label);
  const std::string_view bracketed = Bracketed(label);
  if (!bracketed.empty()) return bracketed;
  const size_t last_text = label.find_last_not_of(kDigits);
  const size_t first_text = label.find_first_not_of(kDigits);
  if (last_text == std::string_view::npos) return {};
  const std::string_view without_last = label.substr(0, last_text + 1);
  const bool number_last = without_last.size() < label.size();
  const bool number_first = first_text > 0;
  if (number_last && (!number_first || EndsWithSeparator(without_last))) return Trim(without_last);
  if (number_first) return Trim(label.substr(first_text));
  return {};
}

bool IsBracketTag(std::string_view tag) {
  return tag.size() > 1 && tag.front() == '[' && tag.back() == ']';
}

}  // namespace layerscope::attribution
