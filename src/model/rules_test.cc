#include "src/model/rules.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace layerscope::model {
namespace {

using kernel_names::Rule;
using kernel_names::RuleSet;

base::Error ErrorOf(std::string_view toml) {
  base::Result<std::vector<Rule>> rules = ParseRules(toml, "my.toml");
  EXPECT_FALSE(rules.ok()) << toml;
  return rules.ok() ? base::Error{} : std::move(rules).error();
}

/// A file that goes when the test ends.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text)
      : path_(testing::TempDir() + "layerscope_rules_test.toml") {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ParseRules, ReadsEveryKey) {
  base::Result<std::vector<Rule>> rules = ParseRules(R"(
[[rule]]
category = "a"
group = "G"
match = ["x", '/y\d/']
also = ["z"]
unless = ["w"]
ignore_case = true
full_name = true

[[rule]]
category = "b"
match = ["q"]
)",
                                                     "my.toml");
  ASSERT_TRUE(rules.ok());
  ASSERT_EQ(rules->size(), 2u);
  const Rule& first = (*rules)[0];
  EXPECT_EQ(first.category, "a");
  EXPECT_EQ(first.group, "G");
  EXPECT_EQ(first.patterns, (std::vector<std::string>{"x", "/y\\d/"}));
  EXPECT_EQ(first.also, std::vector<std::string>{"z"});
  EXPECT_EQ(first.unless, std::vector<std::string>{"w"});
  EXPECT_TRUE(first.ignore_case);
  EXPECT_TRUE(first.full_name);
  EXPECT_FALSE((*rules)[1].ignore_case);
}

TEST(ParseRules, AnEmptyFileHasNoRules) {
  base::Result<std::vector<Rule>> rules = ParseRules("# nothing\n", "my.toml");
  ASSERT_TRUE(rules.ok());
  EXPECT_TRUE(rules->empty());
}

TEST(ParseRules, MistakesNameFileLineAndKey) {
  EXPECT_EQ(ErrorOf("[[rule]]\ncategory = \"a\"\nmatsch = [\"x\"]\n").message,
            "my.toml:3: no key 'matsch' in a rule; did you mean 'match'?");
  EXPECT_EQ(ErrorOf("[[rule]]\ncategory = 1\nmatch = [\"x\"]\n").message,
            "my.toml:2: 'category' must hold a string");
  EXPECT_EQ(ErrorOf("[[rule]]\ncategory = \"a\"\nmatch = \"x\"\n").message,
            "my.toml:3: 'match' must hold a list of strings");
  EXPECT_EQ(ErrorOf("[[rule]]\ncategory = \"a\"\nmatch = [\"x\"]\nfull_name = 1\n").message,
            "my.toml:4: 'full_name' must hold true or false");
  EXPECT_EQ(ErrorOf("\n[[rule]]\ncategory = \"a\"\n").message, "my.toml:2: rule ('a'): no pattern");
  EXPECT_EQ(ErrorOf("[[rule]]\nmatch = [\"x\"]\n").message, "my.toml:1: rule (''): no category");
  EXPECT_EQ(ErrorOf("rule = 3\n").message,
            "my.toml:1: 'rule' does not belong into a rules file, [[rule]] does");
  EXPECT_EQ(ErrorOf("rule = [3]\n").message, "my.toml:1: a rule is a table: [[rule]]");
  const base::Error regex = ErrorOf("[[rule]]\ncategory = \"a\"\nmatch = [\"/(/\"]\n");
  EXPECT_TRUE(regex.message.starts_with("my.toml:1: rule ('a'): pattern '/(/': invalid"))
      << regex.message;
  EXPECT_EQ(regex.code, base::ErrorCode::kUsage);
}

TEST(ParseRules, BrokenTomlNamesItsLine) {
  const base::Error error = ErrorOf("[[rule]]\ncategory = \n");
  EXPECT_TRUE(error.message.starts_with("my.toml:2: ")) << error.message;
  EXPECT_EQ(error.code, base::ErrorCode::kUsage);
  EXPECT_FALSE(ParseRules(std::string(100000, '['), "my.toml").ok());
  EXPECT_FALSE(ParseRules("a = \"\xff\"", "my.toml").ok());
}

TEST(LoadRuleSet, OwnRulesGoFirst) {
  const TemporaryFile file(
      "[[rule]]\ncategory = \"mine\"\ngroup = \"G\"\nmatch = [\"rms_norm\"]\n");
  base::Result<RuleSet> set = LoadRuleSet(file.path());
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->category(set->Match("void vllm::rms_norm_kernel<float>(int)")).name, "mine");
  EXPECT_EQ(set->category(set->Match("nvjet_tst_128x64")).name, "gemm_bf16");
}

TEST(LoadRuleSet, SaysWhatIsWrongWithTheFile) {
  base::Result<RuleSet> missing = LoadRuleSet(testing::TempDir() + "there_is_no_such_file.toml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::ErrorCode::kInvalidInput);
  const TemporaryFile file("[[rules]]\n");
  base::Result<RuleSet> wrong = LoadRuleSet(file.path());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, base::ErrorCode::kUsage);
}

}  // namespace
}  // namespace layerscope::model
