#include "src/kernel_names/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

namespace layerscope::kernel_names {
namespace {

base::Error BadPattern(std::string_view text, std::string_view why, std::string hint) {
  return {base::ErrorCode::kUsage, fmt::format("pattern '{}': {}", text, why), std::move(hint)};
}

/// The product of the counts in {n} and {n,m}: by so much the expression's automaton grows.
size_t CountedRepeats(std::string_view regex) {
  size_t product = 1;
  for (size_t at = regex.find('{'); at != std::string_view::npos; at = regex.find('{', at + 1)) {
    size_t largest = 1;
    size_t number = 0;
    for (size_t i = at + 1; i < regex.size() && regex[i] != '}'; ++i) {
      const bool is_digit = regex[i] >= '0' && regex[i] <= '9';
      number = is_digit ? std::min<size_t>(number * 10 + (regex[i] - '0'), 100000) : 0;
      largest = std::max(largest, number);
    }
    product = std::min<size_t>(product * largest, 100000);
  }
  return product;
}

std::regex::flag_type RegexFlags(bool ignore_case) {
  std::regex::flag_type flags = std::regex::ECMAScript | std::regex::nosubs;
#ifdef __GLIBCXX__
  // libstdc++'s other executor recurses for every character of the name.
  flags |= std::regex_constants::__polynomial;
#endif
  if (ignore_case) flags |= std::regex::icase;
  return flags;
}

std::vector<std::string> SplitAtStars(std::string_view text) {
  std::vector<std::string> pieces;
  for (;;) {
    const size_t star = text.find('*');
    pieces.emplace_back(text.substr(0, star));
    if (star == std::string_view::npos) return pieces;
    text.remove_prefix(star + 1);
  }
}

}  // namespace

/// Matches whole names: one pass, where a search would begin anew at every character.
struct Pattern::Regex {
  std::regex whole;
};

base::Result<Pattern> Pattern::Compile(std::string_view text, bool ignore_case) {
  if (text.empty()) return BadPattern(text, "is empty", "remove it, or write what names contain");
  Pattern pattern;
  if (text.size() > 2 && text.front() == '/' && text.back() == '/') {
    const std::string body(text.substr(1, text.size() - 2));
    if (body.size() > kMaxRegexBytes || CountedRepeats(body) > kMaxRegexRepeats) {
      return BadPattern(text, "the regular expression is too large",
                        fmt::format("at most {} bytes, counted repeats of at most {} in all",
                                    kMaxRegexBytes, kMaxRegexRepeats));
    }
    try {
      const std::regex alone(body, RegexFlags(ignore_case));
      pattern.regex_ = std::make_shared<const Regex>(
          Regex{std::regex("[\\s\\S]*(?:" + body + ")[\\s\\S]*", RegexFlags(ignore_case))});
    } catch (const std::regex_error& error) {
      return BadPattern(text, fmt::format("invalid regular expression: {}", error.what()),
                        "ECMAScript syntax without back references");
    }
    return pattern;
  }
  const std::string folded = ignore_case ? ToLower(text) : std::string(text);
  std::string_view rest = folded;
  pattern.at_begin_ = rest.starts_with('^');
  if (pattern.at_begin_) rest.remove_prefix(1);
  pattern.at_end_ = rest.ends_with('$');
  if (pattern.at_end_) rest.remove_suffix(1);
  pattern.pieces_ = SplitAtStars(rest);
  const bool says_something = std::any_of(pattern.pieces_.begin(), pattern.pieces_.end(),
                                          [](const std::string& piece) { return !piece.empty(); });
  if (!says_something) return BadPattern(text, "matches every name", "write what names contain");
  return pattern;
}

bool Pattern::Matches(std::string_view name) const {
  if (regex_) {
    try {
      return std::regex_match(name.begin(), name.end(), regex_->whole);
    } catch (const std::regex_error&) {
      return false;  // the executor's own limits: such a name has no match
    }
  }
  if (at_begin_ && !name.starts_with(pieces_.front())) return false;
  size_t at = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const std::string& piece = pieces_[i];
    const bool is_last = i + 1 == pieces_.size();
    size_t found = name.find(piece, at);
    if (is_last && at_end_ && found != std::string_view::npos) found = name.size() - piece.size();
    if (found == std::string_view::npos || found < at || !name.substr(found).starts_with(piece)) {
      return false;
    }
    if (i == 0 && at_begin_ && found != 0) return false;
    at = found + piece.size();
  }
  return true;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace layerscope::kernel_names
