#include "src/session/layer_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/test_folder.h"

namespace layerscope::session {
namespace {

class LayerContextTest : public TestFolder {};

constexpr const char* kConfig =
    R"({"architectures": ["TinyForCausalLM"], "model_type": "tiny", "num_hidden_layers": 2,
        "hidden_size": 8, "num_attention_heads": 2})";

TEST_F(LayerContextTest, TheConfigBesideATraceIsReadWhereNoneIsNamed) {
  const std::string path = WriteKernel("run/trace.json", "1");
  const std::string config = Write("run/config.json", kConfig);
  base::Result<Outcome> outcome = RunVerb("kernels", {path});
  ASSERT_TRUE(outcome.ok());
  ASSERT_NE(outcome->run->model.config, nullptr);
  ASSERT_FALSE(outcome->result.health.empty());
  EXPECT_EQ(outcome->result.health[0].code, "side_file_used");
  EXPECT_TRUE(outcome->result.health[0].message.starts_with(config));
  outcome = RunVerb("kernels", {path}, {{"no-side-files", "true"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  // `overhead` knows nothing of the model.
  outcome = RunVerb("overhead", {path});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  EXPECT_FALSE(RunVerb("kernels", {path}, {{"output", config}}).ok());
}

TEST_F(LayerContextTest, AConfigThatIsNamedGoesBeforeTheOneBeside) {
  const std::string path = WriteKernel("run/trace.json", "1");
  Write("run/config.json", "{");
  const std::string named = Write("other.json", kConfig);
  base::Result<Outcome> outcome =
      RunVerb("kernels", {path}, {{"config", named}, {"strict", "true"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_NE(outcome->run->model.config, nullptr);
  EXPECT_FALSE(outcome->verdict.has_value());
}

TEST_F(LayerContextTest, ADamagedConfigBesideATraceIsLeftOutAndStrictRefusesIt) {
  const std::string path = WriteKernel("run/trace.json", "1");
  const std::string config = Write("run/config.json", R"({"architectures": [)");
  base::Result<Outcome> outcome = RunVerb("kernels", {path});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  EXPECT_EQ(outcome->result.health[0].code, "side_file_unreadable");
  EXPECT_NE(outcome->result.health[0].message.find(config), std::string::npos);
  outcome = RunVerb("kernels", {path}, {{"strict", "true"}});
  ASSERT_TRUE(outcome.ok());
  ASSERT_TRUE(outcome->verdict.has_value());
  EXPECT_EQ(outcome->verdict->code, base::ErrorCode::kStrictViolated);
}

TEST_F(LayerContextTest, DifferentConfigsBesideTheTracesOfARunAreLeftOut) {
  const std::string a = WriteKernel("a/rank0.json", "1");
  const std::string b = WriteKernel("b/rank0.json", "1");
  Write("a/config.json", kConfig);
  Write("b/config.json", kConfig);
  base::Result<Outcome> alike = RunVerb("kernels", {a, b});
  ASSERT_TRUE(alike.ok());
  EXPECT_NE(alike->run->model.config, nullptr);
  Write("b/config.json", "{}");
  base::Result<Outcome> outcome = RunVerb("kernels", {a, b});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  const std::vector<table::HealthEntry>& health = outcome->result.health;
  EXPECT_TRUE(std::any_of(health.begin(), health.end(), [](const table::HealthEntry& entry) {
    return entry.code == "side_file_unused";
  }));
}

TEST_F(LayerContextTest, TheMessageNamesTheFirstConfigThatDiffers) {
  std::vector<std::string> traces;
  for (const char* name : {"x", "y", "z"}) {
    traces.push_back(WriteKernel(std::string(name) + "/rank0.json", "1"));
    Write(std::string(name) + "/config.json", std::string_view(name) == "z" ? "{}" : kConfig);
  }
  base::Result<Outcome> outcome = RunVerb("steps", traces);
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const unused = FindEntry(*outcome, "side_file_unused");
  ASSERT_NE(unused, nullptr);
  EXPECT_EQ(unused->message, folder() + "/x/config.json and " + folder() +
                                 "/z/config.json are not the same, so neither is used; --config "
                                 "names one.");
}

}  // namespace
}  // namespace layerscope::session
