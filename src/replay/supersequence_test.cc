#include "src/replay/supersequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace layerscope::replay {
namespace {

constexpr size_t kManyCells = 1'000'000;

std::vector<uint32_t> Spell(std::string_view text) {
  return {text.begin(), text.end()};
}

std::string Common(std::string_view a, std::string_view b, size_t longest = 100) {
  const auto common = OnlySupersequence(Spell(a), Spell(b), longest, kManyCells);
  return common ? std::string(common->begin(), common->end()) : "-";
}

TEST(OnlySupersequence, JoinsWhatEitherSideLacks) {
  EXPECT_EQ(Common("abcdf", "acdef"), "abcdef");
  EXPECT_EQ(Common("abc", "abc"), "abc");
  EXPECT_EQ(Common("", "abc"), "abc");
  EXPECT_EQ(Common("aabc", "abc"), "aabc");
}

TEST(OnlySupersequence, SaysNothingWhereTwoOrdersArePossible) {
  EXPECT_EQ(Common("abd", "acd"), "-");  // abcd or acbd
  EXPECT_EQ(Common("ab", "ba"), "-");    // aba or bab
  EXPECT_EQ(Common("aab", "abb"), "-");  // aabb or abab
}

TEST(OnlySupersequence, SaysNothingOfLongerOnes) {
  EXPECT_EQ(Common("abcdf", "acdef", 6), "abcdef");
  EXPECT_EQ(Common("abcdf", "acdef", 5), "-");
  EXPECT_EQ(Common("abc", "ab", 2), "-");
  EXPECT_FALSE(OnlySupersequence(Spell("abcdf"), Spell("acdef"), 6, 5));
}

bool Holds(const std::string& whole, const std::string& part) {
  return IsSubsequence(Spell(part), Spell(whole));
}

/// All sequences of up to `longest` of two letters, tried one by one.
std::string TryAll(const std::string& a, const std::string& b, size_t longest) {
  for (size_t n = 0; n <= longest; ++n) {
    std::set<std::string> found;
    for (uint32_t bits = 0; bits < uint32_t{1} << n; ++bits) {
      std::string text;
      for (size_t i = 0; i < n; ++i) text += (bits >> i & 1) != 0 ? 'y' : 'x';
      if (Holds(text, a) && Holds(text, b)) found.insert(text);
    }
    if (!found.empty()) return found.size() == 1 ? *found.begin() : "-";
  }
  return "-";
}

TEST(OnlySupersequence, AgreesWithTryingAll) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const auto text = [&] {
      std::string letters(random() % 5, 'x');
      for (char& letter : letters) letter = random() % 2 == 0 ? 'x' : 'y';
      return letters;
    };
    const std::string a = text(), b = text();
    const size_t longest = random() % 8;
    EXPECT_EQ(Common(a, b, longest), TryAll(a, b, longest)) << a << " " << b << " " << longest;
  }
}

TEST(IsSubsequence, KeepsTheOrder) {
  EXPECT_TRUE(Holds("abcab", "cb"));
  EXPECT_TRUE(Holds("a", ""));
  EXPECT_FALSE(Holds("abc", "ca"));
  EXPECT_FALSE(Holds("", "a"));
}

}  // namespace
}  // namespace layerscope::replay
