#include "src/model/model_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace layerscope::model {
namespace {

namespace fs = std::filesystem;

ModelConfig Parsed(const std::string& text, const std::string& origin = "c.json") {
  base::Result<ModelConfig> config = ParseModelConfig(text, origin);
  EXPECT_TRUE(config.ok()) << config.error().message;
  return config.ok() ? *config : ModelConfig();
}

base::Error Refused(const std::string& text) {
  base::Result<ModelConfig> config = ParseModelConfig(text, "c.json");
  EXPECT_FALSE(config.ok()) << text;
  return config.ok() ? base::Error() : config.error();
}

/// A folder that goes when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::path(testing::TempDir()) / "layerscope_model_config_test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string Write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(ModelConfig, ReadsTheNumbersOfALatentAttentionModel) {
  const ModelConfig config = Parsed(R"({"model_type": "deepseek_v3", "num_hidden_layers": 2,
    "hidden_size": 7168, "num_attention_heads": 128, "num_key_value_heads": 128,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "moe_intermediate_size": 2048, "intermediate_size": 18432, "num_nextn_predict_layers": 1,
    "vocab_size": 129280, "torch_dtype": "bfloat16"})");
  EXPECT_EQ(config.hidden_size, 7168);
  EXPECT_EQ(config.q_lora_rank, 1536);
  EXPECT_EQ(config.kv_lora_rank, 512);
  EXPECT_EQ(config.rope_head_dim, 64);
  EXPECT_EQ(config.nope_head_dim, 128);
  EXPECT_EQ(config.head_dim, std::nullopt);
  EXPECT_EQ(config.experts.n_experts, 256);
  EXPECT_EQ(config.experts.top_k, 8);
  EXPECT_EQ(config.experts.n_shared, 1);
  EXPECT_EQ(config.experts.intermediate_size, 2048);
  EXPECT_EQ(config.n_mtp_layers, 1);
  EXPECT_EQ(config.vocab_size, 129280);
  EXPECT_EQ(config.dtype, "bfloat16");
  EXPECT_EQ(config.attention, "MLA");
}

TEST(ModelConfig, NamesAttentionByItsHeads) {
  const auto attention = [](const std::string& heads) {
    return Parsed(R"({"num_hidden_layers": 1, )" + heads + "}").attention;
  };
  EXPECT_EQ(attention(R"("num_attention_heads": 8)"), "MHA");
  EXPECT_EQ(attention(R"("num_attention_heads": 8, "num_key_value_heads": 2)"), "GQA");
  EXPECT_EQ(attention(R"("num_attention_heads": 8, "num_key_value_heads": 1)"), "MQA");
  EXPECT_EQ(attention(R"("vocab_size": 5)"), "");
  EXPECT_EQ(attention(R"("layer_types": ["mamba"])"), "linear");
}

TEST(ModelConfig, DerivesTheHeadWidthWhereItIsPlain) {
  EXPECT_EQ(
      Parsed(R"({"num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 8})").head_dim,
      8);
  EXPECT_EQ(Parsed(R"({"n_layer": 1, "n_embd": 64, "n_head": 4, "head_dim": 32})").head_dim, 32);
  EXPECT_EQ(Parsed(R"({"n_layer": 1, "n_embd": 64, "n_head": 0})").head_dim, std::nullopt);
}

TEST(ModelConfig, WidthsAndWindowsAreThoseInUse) {
  // Llama4TextConfig of Transformers: intermediate_size is the experts', intermediate_size_mlp the
  // dense layers'.
  const ModelConfig llama4 = Parsed(R"({"num_hidden_layers": 2, "num_local_experts": 16,
    "intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2})");
  EXPECT_EQ(llama4.intermediate_size, 16384);
  EXPECT_EQ(llama4.experts.intermediate_size, 8192);
  const ModelConfig qwen = Parsed(R"({"num_hidden_layers": 1, "num_experts": 256,
    "shared_expert_intermediate_size": 512, "sliding_window": 32768,
    "use_sliding_window": false})");
  EXPECT_EQ(qwen.experts.n_shared, 1);
  EXPECT_EQ(qwen.sliding_window, std::nullopt);
}

TEST(ModelConfig, TheInnermostTextConfigWins) {
  const ModelConfig config = Parsed(R"({"model_type": "outer", "num_hidden_layers": 9,
    "architectures": ["Outer"], "dtype": "float16", "thinker_config": {"text_config":
    {"model_type": "inner", "num_hidden_layers": 2, "dtype": null, "architectures": ["Inner"]}},
    "vision_config": {"num_hidden_layers": 27, "model_type": "eyes"}})");
  EXPECT_EQ(config.num_layers, 2);
  EXPECT_EQ(config.model_type, "inner");
  EXPECT_EQ(config.outer_type, "outer");
  EXPECT_EQ(config.architectures, (std::vector<std::string>{"Outer", "Inner"}));
  EXPECT_EQ(config.dtype, "float16");  // a null is an absent key
  EXPECT_TRUE(config.HasKey("num_hidden_layers"));
  EXPECT_FALSE(config.HasKey("num_layers"));
}

TEST(ModelConfig, EveryNameOfANestedTextConfigIsKnown) {
  for (const char* const key : {"text_config", "language_config", "llm_config"}) {
    const ModelConfig config =
        Parsed(std::string(R"({"model_type": "w", ")") + key + R"(": {"num_hidden_layers": 3}})");
    EXPECT_EQ(config.num_layers, 3) << key;
    EXPECT_EQ(config.model_type, "w") << key;
  }
}

TEST(ModelConfig, VisionConfigNeverCounts) {
  EXPECT_NE(Refused(R"({"model_type": "w", "vision_config": {"num_hidden_layers": 27}})")
                .message.find("does not say how many layers"),
            std::string::npos);
}

TEST(ModelConfig, NumLayersStandsInWhereTheFileHasNone) {
  base::Result<ModelConfig> config = ParseModelConfig(R"({"model_type": "x"})", "c.json", 5);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->layers.size(), 5u);
  EXPECT_EQ(ParseModelConfig(R"({"n_layer": 2})", "c.json", 5)->num_layers, 2);
}

TEST(ModelConfig, NotANumberAndInfinityAreTolerated) {
  EXPECT_EQ(Parsed(R"({"num_hidden_layers": 1, "time_step_limit": [0.0, Infinity], "x": NaN})")
                .num_layers,
            1);
}

TEST(ModelConfig, NumbersOncePerLayerCountWhenTheyAreEqual) {
  const ModelConfig config = Parsed(R"({"num_hidden_layers": 2, "intermediate_size": [8, 8],
    "num_attention_heads": [4, 8], "moe_topk": [2, 2], "num_experts": 4})");
  EXPECT_EQ(config.intermediate_size, 8);
  EXPECT_EQ(config.num_attention_heads, std::nullopt);
  EXPECT_EQ(config.experts.top_k, 2);
}

TEST(ModelConfig, OtherFilesAreRefusedWithWhatTheyAre) {
  const base::Error error =
      Refused(R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}})");
  EXPECT_EQ(error.code, base::ErrorCode::kInvalidInput);
  EXPECT_NE(error.message.find("hf_quant_config"), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("config.json"), std::string::npos) << error.hint;
  EXPECT_NE(Refused(R"({"weight_map": {}})").message.find("index of a model's weights"),
            std::string::npos);
  EXPECT_NE(Refused(R"({"traceEvents": []})").message.find("a trace"), std::string::npos);
  EXPECT_NE(Refused("[]").message.find("one JSON object"), std::string::npos);
}

TEST(ModelConfig, BrokenAndAbsurdFilesAreRefused) {
  EXPECT_NE(Refused("{").message.find("at byte"), std::string::npos);
  EXPECT_EQ(Refused(R"({"num_hidden_layers": 0})").code, base::ErrorCode::kInvalidInput);
  EXPECT_NE(Refused(R"({"num_hidden_layers": 100000})").message.find("cannot be meant"),
            std::string::npos);
  EXPECT_NE(Refused(R"({"num_hidden_layers": "many"})").message.find("must be a whole number"),
            std::string::npos);
  EXPECT_NE(Refused(R"({"num_hidden_layers": true})").message.find("true or false"),
            std::string::npos);
  EXPECT_NE(Refused(R"({"num_hidden_layers": 1, "hidden_size": -5})").message.find("hidden_size"),
            std::string::npos);
  EXPECT_NE(
      Refused(R"({"num_hidden_layers": 1, "hidden_size": 1e300})").message.find("hidden_size"),
      std::string::npos);
  EXPECT_NE(Refused(R"({"num_hidden_layers": 1, "quantization_config": 3})")
                .message.find("quantization_config"),
            std::string::npos);
  EXPECT_FALSE(ParseModelConfig(std::string(100000, '['), "c.json").ok());
}

TEST(ModelConfig, LoadsAFileOrTheOneInAFolder) {
  const TemporaryFolder folder;
  const std::string file =
      folder.Write("models--Qwen--Qwen3-8B/snapshots/1f/config.json", R"({"n_layer": 2})");
  base::Result<ModelConfig> by_file = LoadModelConfig(file);
  ASSERT_TRUE(by_file.ok());
  EXPECT_EQ(by_file->name, "Qwen/Qwen3-8B");
  base::Result<ModelConfig> by_folder =
      LoadModelConfig(folder.path() + "/models--Qwen--Qwen3-8B/snapshots/1f");
  ASSERT_TRUE(by_folder.ok());
  EXPECT_EQ(by_folder->num_layers, 2);
  base::Result<ModelConfig> none = LoadModelConfig(folder.path());
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("holds no config.json"), std::string::npos);
  EXPECT_EQ(LoadModelConfig(folder.path() + "/absent.json").error().code,
            base::ErrorCode::kInvalidInput);
}

TEST(ModelConfig, HugeFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("config.json", std::string(kMaxConfigBytes + 1, ' '));
  EXPECT_NE(LoadModelConfig(file).error().message.find("too large"), std::string::npos);
}

TEST(ModelConfig, TakesItsNameFromTheFileWhereTheConfigHasNone) {
  const auto name = [](const std::string& origin) {
    return Parsed(R"({"n_layer": 1, "_name_or_path": ""})", origin).name;
  };
  EXPECT_EQ(name("x/openai--gpt-oss-120b_config.json"), "openai/gpt-oss-120b");
  EXPECT_EQ(name("models/Llama-3/config.json"), "Llama-3");
  EXPECT_EQ(name("config.json"), "");
  EXPECT_EQ(Parsed(R"({"n_layer": 1, "_name_or_path": "a/b"})").name, "a/b");
}

}  // namespace
}  // namespace layerscope::model
