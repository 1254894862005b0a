#include "src/model/profile.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "src/model/embedded_profiles.h"
#include "src/model/rules.h"

namespace layerscope::model {
namespace {

std::string MessageOf(std::string_view toml) {
  base::Result<Profile> profile = ParseProfile(toml, "my.toml");
  EXPECT_FALSE(profile.ok()) << toml;
  if (profile.ok()) return {};
  EXPECT_EQ(profile.error().code, base::ErrorCode::kUsage);
  return profile.error().message;
}

TEST(ParseProfile, ReadsEveryKey) {
  base::Result<Profile> profile = ParseProfile(R"(
name = "mine"
summary = "a test"
[anchor]
patterns = ["a", '/b\d/']
given = true
boundary = false
extra_per_pass = 3
helpers_before = ["h"]
note = "n"
[blocks]
per_layer = 2
names = ["x", "y"]
[[identity]]
order = 7
model_types = ["m"]
architectures = ["A"]
keys = ["k"]
without_keys = ["w"]
note = "because"
[[identity]]
order = 8
any_config = true
[[rule]]
category = "c"
match = ["q"]
)",
                                               "my.toml");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->summary, "a test");
  EXPECT_EQ(profile->anchor.patterns, (std::vector<std::string>{"a", "/b\\d/"}));
  EXPECT_TRUE(profile->anchor.given);
  EXPECT_FALSE(profile->anchor.boundary);
  EXPECT_EQ(profile->anchor.extra_per_pass, 3);
  EXPECT_EQ(profile->anchor.helpers_before, std::vector<std::string>{"h"});
  EXPECT_EQ(profile->anchor.note, "n");
  EXPECT_EQ(profile->blocks_per_layer, 2);
  EXPECT_EQ(profile->block_names, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(profile->identities.size(), 2u);
  EXPECT_EQ(profile->identities[0].order, 7);
  EXPECT_EQ(profile->identities[0].without_keys, std::vector<std::string>{"w"});
  EXPECT_EQ(profile->identities[0].note, "because");
  EXPECT_TRUE(profile->identities[1].any_config);
  ASSERT_EQ(profile->rules.size(), 1u);
  EXPECT_EQ(profile->rules[0].category, "c");
}

TEST(ParseProfile, ANameIsEnough) {
  base::Result<Profile> profile = ParseProfile("name = \"p\"\n", "my.toml");
  ASSERT_TRUE(profile.ok());
  EXPECT_TRUE(profile->anchor.patterns.empty());
  EXPECT_TRUE(profile->anchor.boundary);
  EXPECT_EQ(profile->blocks_per_layer, 1);
}

TEST(ParseProfile, MistakesNameFileLineAndKey) {
  EXPECT_EQ(MessageOf("name = \"p\"\n[anchr]\n"),
            "my.toml:2: no key 'anchr' in a profile; did you mean 'anchor'?");
  EXPECT_EQ(MessageOf("name = \"p\"\n[anchor]\npattern = []\n"),
            "my.toml:3: no key 'pattern' in [anchor]; did you mean 'patterns'?");
  EXPECT_EQ(MessageOf("name = \"p\"\n[blocks]\nper_layr = 1\n"),
            "my.toml:3: no key 'per_layr' in [blocks]; did you mean 'per_layer'?");
  EXPECT_EQ(MessageOf("name = \"p\"\n[blocks]\nper_layer = 0\n"),
            "my.toml:3: 'per_layer' must hold a whole number from 1 to 16");
  EXPECT_EQ(MessageOf("name = \"p\"\n[blocks]\nper_layer = 2\nnames = [\"a\"]\n"),
            "my.toml:2: 'names' has 1 entries for 2 blocks a layer");
  EXPECT_EQ(MessageOf("name = \"p\"\n[[identity]]\norder = 1\nmodel_typs = [\"m\"]\n"),
            "my.toml:4: no key 'model_typs' in an identity; did you mean 'model_types'?");
  EXPECT_EQ(MessageOf("name = \"p\"\n[[identity]]\nkeys = [\"k\"]\n"),
            "my.toml:2: an identity needs an 'order'");
  EXPECT_EQ(MessageOf("name = \"p\"\n[[identity]]\norder = 1\n"),
            "my.toml:2: an identity needs 'model_types', 'architectures', 'keys' or 'any_config'");
  EXPECT_EQ(MessageOf("name = \"p\"\nidentity = 3\n"),
            "my.toml:2: 'identity' must be written as tables: [[identity]]");
  EXPECT_EQ(MessageOf("name = \"p\"\nanchor = 3\n"),
            "my.toml:2: 'anchor' must be a table: [anchor]");
  EXPECT_EQ(MessageOf("name = \"P x\"\n"), "my.toml:1: 'name' must be 1 to 64 of a-z, 0-9 and _");
  EXPECT_EQ(MessageOf("summary = \"p\"\n"), "my.toml:1: a profile needs a 'name'");
  EXPECT_EQ(MessageOf("name = \"p\"\n[[rule]]\ncategory = \"a\"\nmatsch = []\n"),
            "my.toml:4: no key 'matsch' in a rule; did you mean 'match'?");
}

TEST(ParseProfile, PatternsAreChecked) {
  const std::string message = MessageOf("name = \"p\"\n[anchor]\npatterns = [\"/(/\"]\n");
  EXPECT_TRUE(message.starts_with("my.toml:3: 'patterns': ")) << message;
  EXPECT_TRUE(MessageOf("name = \"p\"\n[anchor]\nhelpers_before = [\"\"]\n")
                  .starts_with("my.toml:3: 'helpers_before': "));
}

TEST(ParseProfile, BrokenTomlNamesItsLine) {
  EXPECT_TRUE(MessageOf("name = \"p\"\nx = \n").starts_with("my.toml:2: "));
  EXPECT_FALSE(ParseProfile(std::string(100000, '['), "my.toml").ok());
}

TEST(ParseProfile, CharactersBeyondAsciiStandInTextsAndCommentsOnly) {
  EXPECT_TRUE(ParseProfile("\xEF\xBB\xBF# é\nname = 'p' # é\nsummary = \"\\\"é\"\n"
                           "[anchor]\nnote = \"\"\"\né\"\"\"\n",
                           "my.toml")
                  .ok());
  // U+FEF3, over which toml++ falls.
  EXPECT_EQ(MessageOf("name = 'p'\nsummary\xEF\xBB\xB3 = 'q'\n"),
            "my.toml:2: a character that is not ASCII stands outside of quotes and comments");
}

// formats/profiles.md, "The profiles": thirteen, with their blocks and extra anchors.
TEST(BuiltInProfiles, AreThoseOfTheSpecification) {
  struct Expected {
    const char* name;
    int64_t blocks, extra;
    bool given, boundary;
  };
  const Expected expected[] = {
      {"dsv3_mla", 2, 1, true, true},      {"dsv41", 1, 0, true, true},
      {"dsv4_csa_hca", 2, 0, false, true}, {"gemma4", 1, 0, true, false},
      {"generic", 1, 0, true, true},       {"generic_addnorm", 2, 1, true, true},
      {"glm5_next", 2, 0, false, true},    {"hy_v4", 2, 0, true, false},
      {"kimi_k3", 2, 1, true, true},       {"longcat_flash", 4, 1, true, true},
      {"mla_dsa", 2, 1, true, true},       {"nemotron_h", 1, 1, true, true},
      {"qwen4_exp", 2, 0, true, true}};
  const std::vector<Profile>& profiles = BuiltInProfiles();
  ASSERT_EQ(profiles.size(), std::size(expected));
  for (size_t i = 0; i < profiles.size(); ++i) {
    EXPECT_EQ(profiles[i].name, expected[i].name);
    EXPECT_EQ(profiles[i].blocks_per_layer, expected[i].blocks) << expected[i].name;
    EXPECT_EQ(profiles[i].anchor.extra_per_pass, expected[i].extra) << expected[i].name;
    EXPECT_EQ(profiles[i].anchor.given, expected[i].given) << expected[i].name;
    EXPECT_EQ(profiles[i].anchor.boundary, expected[i].boundary) << expected[i].name;
    EXPECT_FALSE(profiles[i].summary.empty()) << expected[i].name;
  }
}

TEST(BuiltInProfiles, AreCalledAsTheirFiles) {
  for (const EmbeddedFile& file : EmbeddedProfiles()) {
    base::Result<Profile> profile = ParseProfile(file.text, file.name);
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    EXPECT_EQ("profiles/" + profile->name + ".toml", file.name);
  }
}

TEST(BuiltInProfiles, NoTwoIdentitiesShareAnOrder) {
  std::set<int64_t> orders;
  for (const Profile& profile : BuiltInProfiles()) {
    for (const Identity& identity : profile.identities) {
      EXPECT_TRUE(orders.insert(identity.order).second) << profile.name << " " << identity.order;
    }
  }
}

TEST(LoadProfile, TakesANameOrAFile) {
  base::Result<Profile> by_name = LoadProfile("mla_dsa");
  ASSERT_TRUE(by_name.ok());
  EXPECT_EQ(by_name->name, "mla_dsa");
  const std::string path = testing::TempDir() + "layerscope_profile_test.toml";
  std::ofstream(path) << "name = \"mine\"\n";
  base::Result<Profile> by_path = LoadProfile(path);
  std::remove(path.c_str());
  ASSERT_TRUE(by_path.ok());
  EXPECT_EQ(by_path->name, "mine");
}

TEST(LoadProfile, SuggestsTheNearestName) {
  base::Result<Profile> profile = LoadProfile("mla_dsv");
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(profile.error().message, "no profile or file 'mla_dsv'; did you mean 'mla_dsa'?");
}

// The examples of docs/profiles.md are files that `profiles check` accepts.
TEST(ParseProfile, AcceptsTheExamplesOfItsDocumentation) {
  std::ifstream file("docs/profiles.md");
  ASSERT_TRUE(file) << "run from the root of the repository";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view kOpen = "```toml\n";
  size_t n_examples = 0;
  for (size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    at += kOpen.size();
    const size_t end = text.find("```", at);
    base::Result<Profile> profile = ParseProfile(text.substr(at, end - at), "docs/profiles.md");
    EXPECT_TRUE(profile.ok()) << profile.error().message;
    ++n_examples;
  }
  EXPECT_EQ(n_examples, 2u);
}

// formats/profiles.md, "Kernel categories".
TEST(ProfileRules, ComeBeforeTheUniversalOnes) {
  const auto category = [](const char* profile, const char* kernel) {
    base::Result<kernel_names::RuleSet> rules = LoadRuleSet("", FindBuiltInProfile(profile));
    EXPECT_TRUE(rules.ok());
    return rules->category(rules->Match(kernel)).name;
  };
  EXPECT_EQ(category("dsv4_csa_hca", "void flash_fwd_splitkv_mla_kernel<int>(int)"),
            "mla_attention");
  EXPECT_EQ(category("dsv4_csa_hca", "fused_moe_kernel"), "moe_fused");
  EXPECT_EQ(category("dsv4_csa_hca", "mhc_pre_gemm_sqrsum_tilelang_kernel"), "mhc");
  EXPECT_EQ(category("dsv4_csa_hca", "c128_prefill_kernel"), "c4_c128_prefill");
  EXPECT_EQ(category("dsv3_mla", "fused_moe_kernel"), "moe_fused");
  EXPECT_NE(category("generic", "fused_moe_kernel"), "moe_fused");
  for (const char* const profile : {"dsv4_csa_hca", "dsv41", "mla_dsa", "glm5_next"}) {
    EXPECT_EQ(category(profile, "fast_hadamard_transform_kernel"), "hadamard") << profile;
    EXPECT_EQ(category(profile, "fused_indexer_q_rope_quant"), "indexer") << profile;
    EXPECT_EQ(category(profile, "void deep_gemm::sm90_fp8_paged_mqa_logits<1>(int)"), "paged_mqa")
        << profile;
  }
}

TEST(ProfileRules, TheUsersOwnGoFirst) {
  const std::string path = testing::TempDir() + "layerscope_profile_rules_test.toml";
  std::ofstream(path) << "[[rule]]\ncategory = \"own\"\nmatch = [\"hadamard\"]\n";
  base::Result<kernel_names::RuleSet> rules = LoadRuleSet(path, FindBuiltInProfile("mla_dsa"));
  std::remove(path.c_str());
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules->category(rules->Match("hadamard_kernel")).name, "own");
  EXPECT_EQ(rules->category(rules->Match("indexer_kernel")).name, "indexer");
}

}  // namespace
}  // namespace layerscope::model
