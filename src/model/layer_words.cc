#include "src/model/layer_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace layerscope::model {
namespace {

/// A word of a config may be anything; a type is read by people.
constexpr size_t kMaxTypeBytes = 40;

/// Contained in the word, the first that is decides.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kWords = {{
    {"heavily_compressed", "HCA_C128"},
    {"compressed_sparse", "CSA_C4"},
    {"sparse", "DSA"},
    {"dsa", "DSA"},
    {"sliding", "SWA"},
    {"chunked", "SWA"},
    {"local", "SWA"},
    {"window", "SWA"},
    {"swa", "SWA"},
    {"linear", "LINEAR"},
    {"lightning", "LINEAR"},
    {"mamba", "LINEAR"},
    {"recurrent", "LINEAR"},
    {"delta", "LINEAR"},
    {"gdn", "LINEAR"},
    {"kda", "LINEAR"},
    {"conv", "CONV"},
    {"full", "FULL"},
    {"global", "FULL"},
    {"attention", "FULL"},
    {"softmax", "FULL"},
}};

std::string Capitals(std::string_view word) {
  std::string type;
  for (const char c : word.substr(0, kMaxTypeBytes)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    type += plain ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  }
  return type.empty() ? "UNNAMED" : type;
}

std::string TypeOfWord(const std::string& word) {
  for (const auto& [part, type] : kWords) {
    if (word.find(part) != std::string::npos) return std::string(type);
  }
  return Capitals(word);
}

std::string TypeOfBlock(const std::string& word) {
  if (word == "moe") return "MOE";
  if (word == "mlp") return "MLP";
  if (word.find("mamba") != std::string::npos) return "MAMBA";
  if (word.find("attention") != std::string::npos) return "ATTN";
  return TypeOfWord(word);
}

}  // namespace

std::string TypeOfRatio(int64_t ratio) {
  switch (ratio) {
    case 0:
      return "SWA_ONLY";
    case 1:
      return "V41_C1";
    case 2:
      return "V41_C2";
    case 4:
      return "CSA_C4";
    case 128:
      return "HCA_C128";
    default:
      return "C" + std::to_string(ratio);
  }
}

std::string_view TypeOfPatternLetter(char letter) {
  switch (letter) {
    case 'M':
      return "MAMBA";
    case '*':
      return "ATTN";
    case '-':
      return "MLP";
    case 'E':
      return "MOE";
    default:
      return {};
  }
}

std::vector<std::string> TypesOfWords(const std::vector<std::string>& words, bool* one_block) {
  const auto is_feed_forward = [](const std::string& word) {
    return word == "moe" || word == "mlp";
  };
  *one_block = std::any_of(words.begin(), words.end(), is_feed_forward);
  std::vector<std::string> types;
  types.reserve(words.size());
  for (const std::string& word : words) {
    types.push_back(*one_block ? TypeOfBlock(word) : TypeOfWord(word));
  }
  // DeepSeek V4 as words: its sliding layers are those of ratio 0.
  const auto is_compressed = [](const std::string& type) {
    return type == "CSA_C4" || type == "HCA_C128";
  };
  if (std::any_of(types.begin(), types.end(), is_compressed)) {
    std::replace(types.begin(), types.end(), std::string("SWA"), std::string("SWA_ONLY"));
  }
  return types;
}

}  // namespace layerscope::model
