#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace layerscope::layers {

/// A kernel's name as the rules of its class read it, in lower case.
struct KernelWords {
  std::string own;   ///< MatchName: own name with namespaces, a launcher with its functor
  std::string full;  ///< demangled, with template arguments

  bool Has(std::string_view word) const { return own.find(word) != std::string::npos; }
  bool HasAny(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [this](auto word) { return Has(word); });
  }
  /// The last part of the name's namespaces, up to its template arguments.
  std::string_view Last() const {
    std::string_view last = own;
    last = last.substr(0, last.find('<'));
    const size_t colons = last.rfind("::");
    return colons == std::string_view::npos ? last : last.substr(colons + 2);
  }
  bool FullHas(std::string_view word) const { return full.find(word) != std::string::npos; }
  bool FullHasAny(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [this](auto word) { return FullHas(word); });
  }
  bool StartsWith(std::string_view word) const { return own.compare(0, word.size(), word) == 0; }
};

/// Writes keys and values into the cache; attention that reads a paged cache does not.
bool IsCacheWrite(const KernelWords& name);
/// Positions, page indices, slot mappings: what engines launch before the layers.
bool IsBatchPreparation(const KernelWords& name);
bool HasAttentionWord(const KernelWords& name);
bool IsStateSpace(const KernelWords& name);
bool IsLinearAttention(const KernelWords& name);
/// Stands beside a mixer and cannot replace it: only some layers or some batches have it.
bool IsMixerHelper(const KernelWords& name);
/// Routing, sorting and grouped GEMMs of a mixture of experts.
bool IsExperts(const KernelWords& name);
bool IsGemm(const KernelWords& name);
bool IsActivation(const KernelWords& name);
bool IsSampler(const KernelWords& name);
bool IsEmbedding(const KernelWords& name);

}  // namespace layerscope::layers
