#include "src/json/number_text.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>

namespace layerscope::json {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Drops the digits at the front; false when there are none.
bool EatDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  text->remove_prefix(count);
  return count > 0;
}

bool Eat(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

enum class Form : uint8_t { kNone, kInteger, kReal };

Form FormOf(std::string_view text) {
  Eat(&text, '-');
  if (!Eat(&text, '0') && !EatDigits(&text)) return Form::kNone;
  Form form = Form::kInteger;
  if (Eat(&text, '.')) {
    form = Form::kReal;
    if (!EatDigits(&text)) return Form::kNone;
  }
  if (Eat(&text, 'e') || Eat(&text, 'E')) {
    form = Form::kReal;
    if (!Eat(&text, '+')) Eat(&text, '-');
    if (!EatDigits(&text)) return Form::kNone;
  }
  return text.empty() ? form : Form::kNone;
}

}  // namespace

std::optional<std::variant<int64_t, double>> ParseNumber(std::string_view text) {
  const Form form = FormOf(text);
  if (form == Form::kNone) return std::nullopt;
  const char* const end = text.data() + text.size();
  if (form == Form::kInteger) {
    int64_t integer = 0;
    if (std::from_chars(text.data(), end, integer).ec == std::errc()) return integer;
  }
  double real = 0;
  if (std::from_chars(text.data(), end, real).ec == std::errc()) return real;
  // from_chars does not say on which side the range was left; strtod gives infinity or zero.
  return std::strtod(std::string(text).c_str(), nullptr);
}

bool IsNumber(std::string_view text) {
  return FormOf(text) != Form::kNone;
}

}  // namespace layerscope::json
