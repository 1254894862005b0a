#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace layerscope::tests {
namespace {

constexpr std::array<std::string_view, 28> kTokens = {
    "\"",      "\\",         "{",
    "}",       "[",          "]",
    ",",       ":",          "},{\"ph\":",
    "\x01",    "\xff",       "\\u",
    "\\ud800", "NaN",        "-Infinity",
    "1e999",   "-1",         "9223372036854775808",
    "0.0005",  "null",       "true",
    "\n",      " ",          "\"traceEvents\":[",
    "\"ts\":", "\"dur\":-1", "\"correlation\":0",
    "]}"};

struct Span {
  size_t begin;
  size_t length;
};

Span RandomSpan(const std::string& text, Random& random) {
  const size_t begin = random.Below(text.size() + 1);
  const size_t longest = std::min<size_t>(text.size() - begin, 1 + random.Below(400));
  return {begin, random.Below(longest + 1)};
}

void MutateOnce(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  const Span span = RandomSpan(text, random);
  switch (random.Below(8)) {
    case 0:
      text.resize(random.Below(text.size() + 1));
      break;
    case 1:
      for (size_t i = 0; i < 1 + random.Below(8) && !text.empty(); ++i) {
        text[random.Below(text.size())] = static_cast<char>(random.Next());
      }
      break;
    case 2:
      text.erase(span.begin, span.length);
      break;
    case 3:
      text.insert(random.Below(text.size() + 1), text.substr(span.begin, span.length));
      break;
    case 4: {
      const std::string& other = seeds[random.Below(seeds.size())];
      const Span from = RandomSpan(other, random);
      text.replace(span.begin, span.length, other.substr(from.begin, from.length));
      break;
    }
    default:
      text.insert(span.begin, kTokens[random.Below(kTokens.size())]);
      break;
  }
}

}  // namespace

uint64_t Random::Next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t value = state_;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

std::string Mutate(const std::vector<std::string>& seeds, Random& random) {
  std::string text = seeds[random.Below(seeds.size())];
  const size_t times = 1 + random.Below(8);
  for (size_t i = 0; i < times; ++i) MutateOnce(text, seeds, random);
  return text;
}

}  // namespace layerscope::tests
