// A model's config.json, a profile and a rules file of any bytes: refused, or whole.
#include <string>
#include <string_view>

#include "src/base/check.h"
#include "src/model/model_config.h"
#include "src/model/profile.h"
#include "src/model/rules.h"

#include "tests/fuzz/target.h"

namespace model = layerscope::model;

namespace {

void ReadConfig(std::string_view text) {
  const auto config = model::ParseModelConfig(text, "config.json");
  if (!config.ok()) {
    LS_CHECK(!config.error().message.empty(), "a refusal says why");
    return;
  }
  LS_CHECK(config->num_layers == static_cast<int64_t>(config->layers.size()), "a type a layer");
  for (const model::PlannedLayer& layer : config->layers) {
    LS_CHECK(!layer.type.empty(), "every layer has a type");
  }
  const model::ProfileChoice choice = model::ChooseProfile(&*config);
  LS_CHECK(choice.profile != nullptr && !choice.why.empty(), "every config has a profile");
}

void ReadToml(std::string_view text) {
  const auto profile = model::ParseProfile(text, "profile.toml");
  LS_CHECK(!profile.ok() || !profile->name.empty(), "a profile has a name");
  (void)model::ParseRules(text, "rules.toml");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadConfig(text);
  ReadToml(text);
  return 0;
}
