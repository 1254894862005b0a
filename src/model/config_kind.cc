#include "src/model/config_kind.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace layerscope::model {
namespace {

using json::Node;

struct OtherKind {
  std::string_view key;  ///< no model's config.json has it
  std::string_view what;
};

constexpr std::array<OtherKind, 7> kOtherKinds = {{
    {"weight_map", "the index of a model's weights (model.safetensors.index.json)"},
    {"traceEvents", "a trace"},
    {"tokenizer_class", "a tokenizer's config (tokenizer_config.json)"},
    {"added_tokens_decoder", "a tokenizer's config (tokenizer_config.json)"},
    {"peft_type", "an adapter's config (adapter_config.json)"},
    {"image_processor_type", "an image processor's config (preprocessor_config.json)"},
    {"_from_model_config", "a generation config (generation_config.json)"},
}};

constexpr std::array<std::string_view, 7> kModelKeys = {
    "model_type", "architectures", "num_hidden_layers", "num_layers",
    "n_layer",    "n_layers",      "text_config"};

bool LooksLikeAModel(const Node& root) {
  for (const std::string_view key : kModelKeys) {
    if (root.Find(key) != nullptr) return true;
  }
  return false;
}

base::Error Refuse(std::string_view what, std::string_view hint) {
  return {base::ErrorCode::kInvalidInput,
          fmt::format("this is {}, not a model's config.json", what), std::string(hint)};
}

}  // namespace

base::Status RefuseOtherKinds(const Node& root) {
  if (!root.IsObject()) {
    return base::Error{base::ErrorCode::kInvalidInput, "a config.json holds one JSON object",
                       "give the config.json of the model, or the folder in which it lies"};
  }
  if (LooksLikeAModel(root)) return {};
  const Node* const quantization = root.Find("quantization");
  if (quantization != nullptr && quantization->Find("quant_algo") != nullptr) {
    return Refuse("an hf_quant_config: ModelOpt's list of quantised modules",
                  "give the config.json that lies beside it; it holds the architecture");
  }
  for (const OtherKind& other : kOtherKinds) {
    if (root.Find(other.key) != nullptr) {
      return Refuse(other.what,
                    "give the config.json of the model, or the folder in which it lies");
    }
  }
  return {};
}

}  // namespace layerscope::model
