#include "src/replay/template_config.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "src/base/hash.h"
#include "src/layers/segmentation.h"
#include "src/replay/sequence_alignment.h"
#include "src/replay/template_layer.h"

namespace layerscope::replay {
namespace {

using layers::KernelClass;
using layers::PassPart;

class ConfigLayer {
 public:
  ConfigLayer(const trace::Trace& trace, const layers::LayerStructure& structure,
              const model::ModelConfig& config, const TemplateNames& names)
      : trace_(trace), structure_(structure), config_(config), names_(names) {
    out_.path_of_row.assign(trace.activities.size(), kNoTemplatePath);
    out_.confidence.assign(structure.passes.size(), 0);
  }

  ConfigTemplate Run() {
    SortRows();
    for (size_t pass = 0; pass < structure_.passes.size(); ++pass) {
      if (const std::string doubt = LayPass(pass); !doubt.empty()) {
        if (out_.reason.empty()) out_.reason = doubt;
      } else {
        any_ = true;
      }
    }
    if (any_) out_.reason.clear();
    return std::move(out_);
  }

 private:
  using Rows = std::vector<uint32_t>;
  struct Group {
    Rows head, tail;
    std::vector<Rows> layers;
  };

  /// Rows of each pass by (start, file order), parted.
  void SortRows() {
    groups_.resize(structure_.passes.size());
    for (size_t pass = 0; pass < groups_.size(); ++pass) {
      groups_[pass].layers.resize(structure_.passes[pass].n_layers);
    }
    Rows rows;
    for (uint32_t row = 0; row < structure_.pass.size(); ++row) {
      if (structure_.pass[row].valid() && structure_.foreign[row] == 0) rows.push_back(row);
    }
    const std::vector<int64_t>& start_ns = trace_.activities.start_ns;
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(start_ns[a], a) < std::pair(start_ns[b], b);
    });
    for (const uint32_t row : rows) {
      const size_t pass = structure_.pass[row].index();
      Group& group = groups_[pass];
      if (structure_.part[row] == PassPart::kHead) group.head.push_back(row);
      if (structure_.part[row] == PassPart::kTail) group.tail.push_back(row);
      if (structure_.part[row] != PassPart::kLayer || !structure_.layer[row].valid()) continue;
      const size_t layer = structure_.layer[row].index() - structure_.passes[pass].first_layer;
      if (layer < group.layers.size()) group.layers[layer].push_back(row);
    }
  }

  /// Why the pass is not laid out; empty: it is.
  std::string LayPass(size_t pass_index) {
    const layers::Pass& pass = structure_.passes[pass_index];
    const Group& group = groups_[pass_index];
    const bool other_model = pass.kind == layers::PassKind::kDraft;
    if (other_model || pass.kind == layers::PassKind::kCapture || pass.n_layers == 0) {
      return "no layers were found";
    }
    if (pass.complete && static_cast<int64_t>(pass.n_layers) != config_.num_layers) {
      return fmt::format("the trace has {} layers, the config {}", pass.n_layers,
                         config_.num_layers);
    }
    if (pass.confidence < layers::kConfident) {
      return fmt::format("the layers were found with confidence {:.2f}, under {:.1f}",
                         pass.confidence, layers::kConfident);
    }
    return LayLayers(pass_index, pass, group);
  }

  std::string LayLayers(size_t pass_index, const layers::Pass& pass, const Group& group) {
    main_stream_ = MainStream(group);
    std::vector<const std::vector<TemplateSlot>*> laid(pass.n_layers, nullptr);
    int64_t n_whole = 0, n_fitting = 0;
    for (uint32_t i = 0; i < pass.n_layers; ++i) {
      const layers::Layer& layer = structure_.layers[pass.first_layer + i];
      if ((layer.flags & layers::kLayerCut) != 0 || layer.index < 0 ||
          layer.index >= config_.num_layers) {
        continue;
      }
      ++n_whole;
      laid[i] = SlotsOf(group.layers[i], config_.layers[static_cast<size_t>(layer.index)].type);
      n_fitting += laid[i] != nullptr ? 1 : 0;
    }
    const double share =
        n_whole == 0 ? 0 : static_cast<double>(n_fitting) / static_cast<double>(n_whole);
    if (share < kEnoughAligned) {
      std::string doubt = fmt::format("{} of {} layers show the modules that the config implies",
                                      n_fitting, n_whole);
      if (!lacking_.empty()) doubt += fmt::format("; no kernel can be {}", lacking_);
      return doubt;
    }
    for (uint32_t i = 0; i < pass.n_layers; ++i) {
      if (laid[i] == nullptr) continue;
      Take(group.layers[i], *laid[i], structure_.layers[pass.first_layer + i].index);
    }
    LayHead(group.head);
    LayTail(group.tail);
    out_.confidence[pass_index] = pass.confidence * share;
    return {};
  }

  trace::StreamId MainStream(const Group& group) const {
    std::map<size_t, size_t> n_rows;
    for (const Rows& rows : group.layers) {
      for (const uint32_t row : rows) ++n_rows[trace_.activities.stream[row].index()];
    }
    const auto most =
        std::max_element(n_rows.begin(), n_rows.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == n_rows.end() ? trace::StreamId() : trace::StreamId(most->first);
  }

  TemplateKernel KernelOf(uint32_t row) {
    TemplateKernel kernel;
    if (trace_.activities.kind[row] != trace::ActivityKind::kKernel) {
      kernel.traits.kind = KernelClass::kCopy;
    } else {
      kernel = Traits(trace_.activities.name[row]);
    }
    kernel.aside = trace_.activities.stream[row] != main_stream_;
    return kernel;
  }
  const TemplateKernel& Traits(trace::StringId name) {
    const auto [known, is_new] = traits_.try_emplace(name.index());
    if (is_new) known.value() = ReadTemplateKernel(trace_.strings[name]);
    return known->second;
  }

  /// Layers of one type and one sequence of kernels are laid out once; null: they do not fit.
  const std::vector<TemplateSlot>* SlotsOf(const Rows& rows, const std::string& type) {
    uint64_t key = std::hash<std::string>()(type) + rows.size();
    std::vector<TemplateKernel> kernels;
    kernels.reserve(rows.size());
    for (const uint32_t row : rows) {
      kernels.push_back(KernelOf(row));
      const bool copy = trace_.activities.kind[row] != trace::ActivityKind::kKernel;
      const uint64_t name = copy ? 0 : trace_.activities.name[row].index() + 1;
      key = base::Mix(key * 31 + (name << 1 | (kernels.back().aside ? 1 : 0)));
    }
    const auto [known, is_new] = slots_.try_emplace(key);
    if (is_new) {
      TemplateSlot lacking = TemplateSlot::kLayer;
      known->second = LayTemplate(kernels, names_, type, &lacking);
      if (lacking_.empty()) lacking_ = PathBelowLayer(lacking, names_, IsLinearLayer(type));
    }
    const bool fits = known->second.has_value() && known->second->size() == rows.size();
    return fits ? &*known->second : nullptr;
  }

  void Take(const Rows& rows, const std::vector<TemplateSlot>& slots, int32_t index) {
    const std::string layer = names_.Layer(index);
    const bool linear = IsLinearLayer(config_.layers[static_cast<size_t>(index)].type);
    std::array<uint32_t, kTemplateSlots> path_of_slot;
    path_of_slot.fill(kNoTemplatePath);
    for (size_t i = 0; i < rows.size(); ++i) {
      uint32_t& path = path_of_slot[static_cast<size_t>(slots[i])];
      if (path == kNoTemplatePath) {
        const std::string below = PathBelowLayer(slots[i], names_, linear);
        path = PathId(below.empty() ? layer : layer + "." + below);
      }
      out_.path_of_row[rows[i]] = path;
    }
  }

  uint32_t PathId(const std::string& path) {
    const auto [known, is_new] =
        path_ids_.try_emplace(path, static_cast<uint32_t>(out_.paths.size()));
    if (is_new) out_.paths.push_back(path);
    return known->second;
  }
  void SetPath(uint32_t row, const std::string& path) { out_.path_of_row[row] = PathId(path); }

  bool IsKind(uint32_t row, KernelClass kind) {
    if (trace_.activities.kind[row] != trace::ActivityKind::kKernel) return false;
    const TemplateKernel& kernel = Traits(trace_.activities.name[row]);
    return kernel.traits.kind == kind && !kernel.reduces_gemm;
  }
  /// The only kernel of a kind; absent when there are several.
  std::optional<uint32_t> Only(const Rows& rows, KernelClass kind) {
    std::optional<uint32_t> only;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (!IsKind(rows[i], kind)) continue;
      if (only) return std::nullopt;
      only = i;
    }
    return only;
  }

  void LayHead(const Rows& rows) {
    const std::optional<uint32_t> embedding = Only(rows, KernelClass::kEmbedding);
    if (embedding) SetPath(rows[*embedding], names_.prefix + ".embed_tokens");
  }

  /// The final norm stands before the projection to the vocabulary.
  void LayTail(const Rows& rows) {
    const std::optional<uint32_t> norm = Only(rows, KernelClass::kNorm);
    const std::optional<uint32_t> gemm = Only(rows, KernelClass::kGemm);
    if (!norm || (gemm && *gemm < *norm)) return;
    SetPath(rows[*norm], names_.prefix + ".norm");
    if (!gemm) return;
    // The projection stands beside the prefix's last part, which is "model" in every family.
    std::string root = names_.prefix;
    root.resize(root.size() - std::string_view("model").size());
    SetPath(rows[*gemm], root + "lm_head");
  }

  const trace::Trace& trace_;
  const layers::LayerStructure& structure_;
  const model::ModelConfig& config_;
  const TemplateNames& names_;
  ConfigTemplate out_;
  bool any_ = false;
  std::vector<Group> groups_;
  trace::StreamId main_stream_;
  tsl::robin_map<uint64_t, TemplateKernel, base::MixHash> traits_;
  std::map<uint64_t, std::optional<std::vector<TemplateSlot>>> slots_;
  std::string lacking_;  // the first module for which a layer has no kernel
  tsl::robin_map<std::string, uint32_t> path_ids_;
};

/// How many layers the trace has: of the model, else of the most whole passes.
std::optional<int64_t> CountLayers(const layers::LayerStructure& structure) {
  if (structure.layers_per_pass) return structure.layers_per_pass;
  std::map<int64_t, int64_t> n_passes;
  for (const layers::Pass& pass : structure.passes) {
    const bool counts = pass.kind != layers::PassKind::kDraft && pass.complete;
    if (counts && pass.n_layers > 0) ++n_passes[int64_t{pass.n_layers}];
  }
  const auto most =
      std::max_element(n_passes.begin(), n_passes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == n_passes.end()) return std::nullopt;
  return most->first;
}

}  // namespace

ConfigTemplate LayConfig(const trace::Trace& trace, const layers::LayerStructure& structure,
                         const model::ModelConfig& config) {
  ConfigTemplate none;
  const std::optional<TemplateNames> names = NamesOf(config);
  const std::optional<int64_t> n_layers = CountLayers(structure);
  if (n_layers.value_or(config.num_layers) != config.num_layers) {
    none.reason =
        fmt::format("the trace has {} layers, the config {}", *n_layers, config.num_layers);
  } else if (!names) {
    none.reason = fmt::format("no template is known for models of type {}", config.model_type);
  } else if (structure.abstained || structure.layers.empty()) {
    none.reason = "no layers were found in which to lay the config's modules";
    if (structure.abstained) none.reason += " (" + structure.abstained->code + ")";
  }
  if (!none.reason.empty()) return none;
  return ConfigLayer(trace, structure, config, *names).Run();
}

}  // namespace layerscope::replay
