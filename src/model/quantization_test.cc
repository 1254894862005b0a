#include "src/model/quantization.h"

#include <gtest/gtest.h>

#include <string>

#include "src/json/document.h"

// The configs are those that the tools named beside them write, cut to what is read.
namespace layerscope::model {
namespace {

std::string Text(const std::string& json) {
  base::Result<json::Node> root = json::ParseDocument(json);
  EXPECT_TRUE(root.ok());
  ConfigFields fields(*root);
  const std::string text = QuantizationText(fields);
  return fields.status().ok() ? text : fields.status().error().message;
}

std::string OfConfig(const std::string& members) {
  return Text(R"({"quantization_config": {)" + members + "}}");
}

TEST(QuantizationText, IsEmptyWhenNothingIsSaid) {
  EXPECT_EQ(Text("{}"), "");
  EXPECT_EQ(Text(R"({"quantization_config": null})"), "");
  EXPECT_EQ(OfConfig(""), "");
}

TEST(QuantizationText, ReadsTheBlocksOfFp8) {
  EXPECT_EQ(OfConfig(R"("quant_method": "fp8", "weight_block_size": [128, 128])"), "fp8 128x128");
  EXPECT_EQ(OfConfig(R"("quant_method": "fp8", "weight_block_size": "odd")"), "fp8");
  EXPECT_EQ(OfConfig(R"("quant_method": "mxfp4")"), "mxfp4");
}

TEST(QuantizationText, ReadsModelOpt) {
  EXPECT_EQ(OfConfig(R"("quant_method": "modelopt", "quant_algo": "NVFP4")"), "nvfp4");
  EXPECT_EQ(OfConfig(R"("quant_method": "fp8", "quant_algo": "MIXED_PRECISION",
                        "moe_quant_algo": "NVFP4", "weight_block_size": [128, 128])"),
            "fp8 128x128, experts nvfp4");
}

TEST(QuantizationText, ReadsCompressedTensors) {
  EXPECT_EQ(OfConfig(R"("quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized")"),
            "mxfp4");
  EXPECT_EQ(OfConfig(R"("quant_method": "compressed-tensors", "format": "pack-quantized",
                        "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int",
                        "group_size": 128}}})"),
            "int4 group 128");
  EXPECT_EQ(OfConfig(R"("quant_method": "compressed-tensors", "config_groups": {"group_0":
                        {"weights": {"num_bits": 8, "type": "float", "group_size": null}}})"),
            "fp8");
  EXPECT_EQ(Text(R"({"compression_config": {"quant_method": "compressed-tensors"}})"),
            "compressed-tensors");
}

TEST(QuantizationText, ReadsAwqGptqAndBitsandbytes) {
  EXPECT_EQ(OfConfig(R"("quant_method": "awq", "bits": 4, "group_size": 128)"),
            "awq int4 group 128");
  EXPECT_EQ(OfConfig(R"("quant_method": "gptq", "bits": 8, "group_size": -1)"), "gptq int8");
  EXPECT_EQ(OfConfig(R"("quant_method": "bitsandbytes", "load_in_4bit": true)"),
            "bitsandbytes 4-bit");
}

TEST(QuantizationText, NamesTheExpertsOwnFormat) {
  EXPECT_EQ(Text(R"({"expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8"}})"),
            "fp8, experts fp4");
  EXPECT_EQ(Text(R"({"expert_dtype": "fp4"})"), "experts fp4");
}

TEST(QuantizationText, RefusesAnotherKindOfValue) {
  EXPECT_EQ(Text(R"({"quantization_config": []})"), "quantization_config: must be an object");
}

}  // namespace
}  // namespace layerscope::model
