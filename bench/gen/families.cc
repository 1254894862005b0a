#include <algorithm>
#include <array>

#include "bench/gen/family.h"

namespace layerscope::gen {
namespace {

using Table = const Family& (*)();

// The thirteen profiles first, then variants of the two generic ones.
constexpr std::array<Table, 17> kTables = {
    &DeepseekV4, &DeepseekV41, &DeepseekV3, &MlaDsa,         &KimiK3,  &Glm5Next,
    &HyV4,       &Qwen4Exp,    &NemotronH,  &LongcatFlash,   &Gemma4,  &GptOss,
    &Generic,    &Dense,       &HfEager,    &AlternatingMoe, &PostNorm};

const Form* FormOf(const Family& family, char letter) {
  const auto found = std::find_if(family.forms.begin(), family.forms.end(),
                                  [letter](const Form& form) { return form.letter == letter; });
  return found == family.forms.end() ? &family.forms.back() : &*found;
}

// A list of one value for each layer, and those that stand for layers beyond the last.
std::string WordList(const ConfigText& config, const std::vector<const Form*>& forms) {
  const bool string = config.list == LayerList::kPattern;
  std::string text;
  for (const Form* form : forms) {
    if (!text.empty() && !string) text += ", ";
    text += form->word;
  }
  for (int64_t i = 0; i < config.surplus_words; ++i) (text += ", ") += config.surplus_word;
  return string ? '"' + text + '"' : '[' + text + ']';
}

std::string IdList(const ConfigText& config, const std::vector<const Form*>& forms,
                   std::string_view word) {
  std::string text;
  for (size_t i = 0; i < forms.size(); ++i) {
    if (forms[i]->word != word) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(static_cast<int64_t>(i) + config.first_id);
  }
  return '[' + text + ']';
}

// Layers at the start whose type has this part.
int64_t Leading(const std::vector<const Form*>& forms, std::string_view part) {
  const auto other = std::find_if(forms.begin(), forms.end(), [part](const Form* form) {
    return form->type.find(part) == std::string_view::npos;
  });
  return other - forms.begin();
}

void Replace(std::string_view name, int64_t value, std::string* text) {
  const size_t at = text->find(name);
  if (at != std::string::npos) text->replace(at, name.size(), std::to_string(value));
}

std::string Quoted(std::string_view key) {
  return '"' + std::string(key) + "\": ";
}

std::string TextModel(const ConfigText& config, const std::vector<const Form*>& forms) {
  std::string text(config.members);
  Replace("$HASH", Leading(forms, "+HASH"), &text);
  Replace("$DENSE", Leading(forms, "+DENSE"), &text);
  text += ", " + Quoted(config.count_key) + std::to_string(forms.size());
  if (config.list == LayerList::kIdLists) {
    text += ", " + Quoted(config.id_object) + "{" + Quoted(config.key);
    text += IdList(config, forms, "1") + ", " + Quoted(config.second_key);
    text += IdList(config, forms, "0") + "}";
  } else if (config.list != LayerList::kNone) {
    text += ", " + Quoted(config.key) + WordList(config, forms);
  }
  return text;
}

}  // namespace

const Family* FindFamily(std::string_view name) {
  for (const Table table : kTables) {
    if (table().name == name) return &table();
  }
  return nullptr;
}

std::vector<std::string_view> FamilyNames() {
  std::vector<std::string_view> names;
  for (const Table table : kTables) names.push_back(table().name);
  return names;
}

const Family& ChosenFamily(const Options& options) {
  switch (options.ambiguous) {
    case Ambiguity::kPostNorm:
      return PostNorm();
    case Ambiguity::kLongcatOneStream:
      return LongcatFlash();
    case Ambiguity::kAlternating:
      return AlternatingMoe();
    case Ambiguity::kHalves:
      return NemotronH();
    case Ambiguity::kNone:
    case Ambiguity::kOneLayer:
      break;
  }
  const Family* family = FindFamily(options.family);
  if (family == nullptr) family = &Dense();
  return options.amd ? DenseAmd() : *family;
}

std::vector<const Form*> LayerForms(const Family& family, const Options& options) {
  std::string_view prefix = family.prefix;
  std::string_view cycle = family.cycle;
  if (options.ambiguous == Ambiguity::kHalves) cycle = "M-";
  if (!options.pattern.empty()) {
    prefix = {};
    cycle = options.pattern;
  }
  const int64_t layers = options.layers > 0 ? options.layers : family.layers;
  std::vector<const Form*> forms;
  for (size_t i = 0; i < static_cast<size_t>(layers); ++i) {
    const char letter = i < prefix.size() ? prefix[i] : cycle[(i - prefix.size()) % cycle.size()];
    forms.push_back(FormOf(family, letter));
  }
  return forms;
}

std::string RenderConfig(const Family& family, const std::vector<const Form*>& forms) {
  if (!family.has_config) return "null";
  const std::string text = TextModel(family.config, forms);
  if (family.config.outer.empty()) return "{" + text + "}";
  return "{" + std::string(family.config.outer) + ", \"text_config\": {" + text + "}}";
}

}  // namespace layerscope::gen
