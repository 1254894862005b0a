#include "src/session/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/format_number.h"
#include "src/base/nearest.h"
#include "src/base/parse_number.h"

namespace layerscope::session {
namespace {

base::Error BadValue(const OptionSpec& spec, const std::string& text, std::string_view wanted) {
  base::Error error;
  error.code = base::ErrorCode::kUsage;
  error.message = fmt::format("--{}: '{}' is not {}", spec.name, text, wanted);
  return error;
}

/// A time without a unit is more often milliseconds than the nanoseconds it would be read as.
base::Status CheckUnit(const OptionSpec& spec, const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string::npos) return {};
  if (text.find_first_not_of("0.") == std::string::npos) return {};
  base::Error error;
  error.code = base::ErrorCode::kUsage;
  error.message = fmt::format("--{}: '{}' has no unit", spec.name, text);
  error.hint = fmt::format("{0}ns? {0}ms? Write the unit: 3.2ms", text);
  return error;
}

std::optional<std::pair<int64_t, int64_t>> ParseRange(std::string_view text) {
  const size_t dots = text.find("..");
  const std::optional<int64_t> first = base::ParseWhole(text.substr(0, dots));
  const std::optional<int64_t> last =
      dots == std::string_view::npos ? first : base::ParseWhole(text.substr(dots + 2));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

base::Result<size_t> ParseChoice(const OptionSpec& spec, const std::string& text) {
  for (size_t i = 0; i < spec.choices.size(); ++i) {
    if (spec.choices[i] == text) return i;
  }
  base::Error error;
  error.code = base::ErrorCode::kUsage;
  error.message =
      fmt::format("--{}: no '{}'{}", spec.name, text, base::DidYouMean(text, spec.choices));
  error.hint = fmt::format("choose one of: {}", fmt::join(spec.choices, ", "));
  return error;
}

}  // namespace

std::vector<std::string> SplitTexts(const std::string& text) {
  std::vector<std::string> texts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(kBetweenTexts, at), text.size());
    texts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return texts;
}

const OptionValues::Value* OptionValues::Find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<bool> OptionValues::OptionalFlag(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  return std::get<bool>(*value);
}

std::optional<std::string> OptionValues::Text(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* choice = std::get_if<ChoiceValue>(value)) return choice->text;
  return std::get<std::string>(*value);
}

std::string OptionValues::TextOr(std::string_view name, std::string fallback) const {
  return Text(name).value_or(std::move(fallback));
}

std::vector<std::string> OptionValues::Texts(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr) return {};
  return std::get<std::vector<std::string>>(*value);
}

std::optional<int64_t> OptionValues::Number(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  return std::get<int64_t>(*value);
}

std::optional<std::pair<int64_t, int64_t>> OptionValues::Range(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  return std::get<std::pair<int64_t, int64_t>>(*value);
}

std::optional<size_t> OptionValues::Choice(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  return std::get<ChoiceValue>(*value).index;
}

std::vector<OptionSpec> JoinOptions(std::vector<std::vector<OptionSpec>> lists) {
  std::vector<OptionSpec> all;
  std::set<std::string> names;
  for (std::vector<OptionSpec>& list : lists) {
    for (OptionSpec& spec : list) {
      if (names.insert(spec.name).second) all.push_back(std::move(spec));
    }
  }
  return all;
}

base::Result<OptionValues> ParseOptions(const std::vector<OptionSpec>& specs,
                                        const RawOptions& raw) {
  OptionValues result;
  for (const OptionSpec& spec : specs) {
    const auto given = raw.find(spec.name);
    if (given == raw.end()) continue;
    const std::string& text = given->second;
    OptionValues::Value& value = result.values_[spec.name];
    const auto number = [&](std::optional<int64_t> parsed) {
      if (parsed) value = *parsed;
      return parsed.has_value();
    };
    switch (spec.kind) {
      case OptionKind::kFlag:
        value = text != "false";
        break;
      case OptionKind::kText:
        value = text;
        break;
      case OptionKind::kTexts:
        value = SplitTexts(text);
        break;
      case OptionKind::kInteger:
        if (!number(base::ParseWhole(text))) return BadValue(spec, text, "a whole number");
        break;
      case OptionKind::kDuration:
        if (const base::Status unit = CheckUnit(spec, text); !unit.ok()) return unit.error();
        if (!number(base::ParseDuration(text))) {
          return BadValue(spec, text, "a time such as 3.2ms, 150us or 12345ns");
        }
        break;
      case OptionKind::kSize:
        if (!number(base::ParseBytes(text))) return BadValue(spec, text, "a size such as 2GiB");
        break;
      case OptionKind::kChoice: {
        base::Result<size_t> index = ParseChoice(spec, text);
        if (!index.ok()) return std::move(index).error();
        value = OptionValues::ChoiceValue{*index, text};
        break;
      }
      case OptionKind::kStepRange: {
        const auto range = ParseRange(text);
        if (!range) {
          return BadValue(spec, text,
                          fmt::format("a {} number (0, 3) or a range such as 3..5", spec.name));
        }
        value = *range;
        break;
      }
    }
  }
  return result;
}

table::Object EnvelopeOptions(const std::vector<OptionSpec>& specs, const OptionValues& values) {
  table::Object object;
  for (const OptionSpec& spec : specs) {
    if (!spec.in_envelope || !values.Has(spec.name)) continue;
    table::Value value;
    switch (spec.kind) {
      case OptionKind::kFlag:
        value = values.Flag(spec.name);
        break;
      case OptionKind::kText:
      case OptionKind::kChoice:
        value = *values.Text(spec.name);
        break;
      case OptionKind::kTexts: {
        table::Array texts;
        for (std::string& text : values.Texts(spec.name)) texts.emplace_back(std::move(text));
        value = std::move(texts);
        break;
      }
      case OptionKind::kInteger:
      case OptionKind::kDuration:
      case OptionKind::kSize:
        value = *values.Number(spec.name);
        break;
      case OptionKind::kStepRange: {
        const auto [first, last] = *values.Range(spec.name);
        value =
            first == last ? table::Value(first) : table::Value(fmt::format("{}..{}", first, last));
        break;
      }
    }
    object.emplace_back(spec.name, std::move(value));
  }
  return object;
}

}  // namespace layerscope::session
