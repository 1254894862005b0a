#include "src/layers/find_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/layers/anchor_choice.h"
#include "src/layers/anchor_pattern.h"
#include "src/layers/capture_groups.h"
#include "src/layers/config_mismatch.h"
#include "src/layers/expert_check.h"
#include "src/layers/layer_columns.h"
#include "src/layers/layer_types.h"
#include "src/layers/module_agreement.h"
#include "src/layers/pass_groups.h"
#include "src/layers/pass_placement.h"
#include "src/layers/segmentation.h"
#include "src/layers/side_ffn.h"
#include "src/layers/steady_state.h"
#include "src/layers/target_rows.h"
#include "src/layers/withheld_passes.h"

namespace layerscope::layers {
namespace {

/// A cut that scopes of modules confirm, kernel by kernel, needs no other sign.
constexpr double kConfirmed = 0.99;
/// And one that they contradict is not shown without a warning.
constexpr double kContradicted = 0.5;
/// A cut that agrees with a config of another kind of model.
constexpr double kOtherModel = 0.6;

class LayerFinder {
 public:
  LayerFinder(const trace::Trace& trace, const attribution::Attribution& attribution,
              const LayerOptions& options)
      : trace_(trace), attribution_(attribution), options_(options), traits_(trace) {}

  base::Result<LayerStructure> Find() {
    out_.profile = options_.profile->name;
    out_.profile_why = options_.profile_why;
    if (auto status = CheckCounts(); !status.ok()) return std::move(status).error();
    auto target = ChooseTarget(trace_, attribution_, options_);
    if (!target.ok()) return std::move(target).error();
    target_ = *std::move(target);
    if (auto status = BuildGroups(); !status.ok()) return std::move(status).error();
    if (auto status = MarkAnchor(); !status.ok()) return std::move(status).error();
    auto placement = PlacePasses(trace_, groups_, options_, source_);
    if (!placement.ok()) return std::move(placement).error();
    placement_ = *std::move(placement);
    FillColumns(trace_, attribution_, target_, placement_.passes, out_);
    Describe();
    return std::move(out_);
  }

 private:
  /// Numbers that no model has are refused before anything is counted with them.
  base::Status CheckCounts() const {
    const auto refuse = [](base::ErrorCode code, std::string message) {
      base::Error error;
      error.code = code;
      error.message = std::move(message);
      error.hint = "give the numbers of the model";
      return error;
    };
    if (options_.num_layers.value_or(0) > kMaxLayers) {
      return refuse(base::ErrorCode::kUsage,
                    fmt::format("--num-layers {}: no more than {} layers are looked for",
                                *options_.num_layers, kMaxLayers));
    }
    if (options_.blocks_per_layer.value_or(0) > kMaxBlocksPerLayer) {
      return refuse(base::ErrorCode::kUsage,
                    fmt::format("--blocks-per-layer {}: no more than {} are looked for",
                                *options_.blocks_per_layer, kMaxBlocksPerLayer));
    }
    if (options_.config != nullptr && options_.config->num_layers > kMaxLayers) {
      return refuse(base::ErrorCode::kFailed,
                    fmt::format("the config says {} layers: no more than {} are looked for",
                                options_.config->num_layers, kMaxLayers));
    }
    return {};
  }

  base::Status BuildGroups() {
    groups_ = BuildPassGroups(trace_, attribution_, target_, traits_);
    for (PassGroup& group : groups_) {
      group.no_order = HasNoOrder(group);
      group.ffn_across_mixers = RunsFfnAcrossMixers(trace_, group, traits_);
    }
    std::optional<trace::ProcessId> wanted = ProcessWanted();
    std::vector<PassGroup> captures =
        BuildCaptureGroups(trace_, wanted.value_or(target_.process), traits_);
    if (auto status = OneProcess(captures); !status.ok()) return status;
    std::move(captures.begin(), captures.end(), std::back_inserter(groups_));
    std::stable_sort(groups_.begin(), groups_.end(), [](const PassGroup& a, const PassGroup& b) {
      return a.start_ns < b.start_ns;
    });
    return {};
  }

  bool HasNoOrder(const PassGroup& group) const {
    const auto start_ns = [&](const Token& token) { return trace_.activities.start_ns[token.row]; };
    return group.tokens.size() > 1 &&
           std::all_of(group.tokens.begin(), group.tokens.end(), [&](const Token& token) {
             return start_ns(token) == start_ns(group.tokens.front());
           });
  }

  std::optional<trace::ProcessId> ProcessWanted() const {
    if (!options_.pid) return std::nullopt;
    for (size_t i = 0; i < trace_.processes.size(); ++i) {
      if (trace_.LabelText(trace_.processes[i].pid) == *options_.pid) return trace::ProcessId(i);
    }
    return std::nullopt;
  }

  trace::ProcessId ProcessOf(const PassGroup& capture) const {
    return trace_.threads[capture.thread.index()].process;
  }

  /// Captures alone do not say which process is meant.
  base::Status OneProcess(const std::vector<PassGroup>& captures) const {
    for (const PassGroup& capture : captures) {
      if (ProcessOf(capture) == ProcessOf(captures.front())) continue;
      const auto pid = [&](const PassGroup& of) {
        return trace_.LabelText(trace_.processes[ProcessOf(of).index()].pid);
      };
      base::Error error;
      error.code = base::ErrorCode::kFailed;
      error.message = fmt::format(
          "captures of several processes are mixed (pid {}, {}): layers are looked for "
          "in one rank at a time",
          pid(captures.front()), pid(capture));
      error.hint = fmt::format("choose one with --pid {}", pid(captures.front()));
      return error;
    }
    return {};
  }

  base::Status MarkAnchor() {
    auto choice = ChooseAnchor(trace_, attribution_, traits_.known(), options_);
    if (!choice.ok()) return OutsidePasses(std::move(choice).error());
    source_ = choice->source;
    out_.anchor_name = std::move(choice->is_anchor);
    is_helper_ = std::move(choice->is_helper);
    for (PassGroup& group : groups_) {
      for (Token& token : group.tokens) token.anchor = out_.anchor_name[token.name] != 0;
    }
    if (source_.user && !AnyAnchor()) return OutsidePasses({});
    return {};
  }

  bool AnyAnchor() const {
    return std::any_of(groups_.begin(), groups_.end(), [](const PassGroup& group) {
      return std::any_of(group.tokens.begin(), group.tokens.end(),
                         [](const Token& token) { return token.anchor; });
    });
  }

  /// A kernel that the user's anchor matches runs, but where no layers are looked for; else
  /// `error`.
  base::Status OutsidePasses(base::Error error) const {
    if (options_.anchor.empty() || error.code == base::ErrorCode::kUsage) return error;
    std::vector<uint8_t> is_kernel(trace_.strings.size(), 0);
    const trace::Activities& all = trace_.activities;
    for (size_t row = 0; row < all.size(); ++row) {
      if (all.kind[row] == trace::ActivityKind::kKernel) is_kernel[all.name[row].index()] = 1;
    }
    KernelNames names(trace_.strings, is_kernel);
    const std::vector<uint8_t> matches = names.Match(options_.anchor);
    // Refused for another reason than that nothing of the passes matches.
    for (size_t i = 0; i < traits_.known().size() && !error.message.empty(); ++i) {
      if (traits_.known()[i] != 0 && matches[i] != 0) return error;
    }
    for (size_t row = 0; row < all.size(); ++row) {
      if (all.kind[row] != trace::ActivityKind::kKernel) continue;
      if (matches[all.name[row].index()] == 0) continue;
      error.code = base::ErrorCode::kFailed;
      error.message = fmt::format(
          "the anchor '{}' matches kernels, but none on the main stream of a pass (stream {})",
          options_.anchor, trace_.StreamText(all.stream[row]));
      error.hint = "give a kernel that stands in every layer";
      return error;
    }
    if (error.message.empty()) return {};
    return error;
  }

  void Describe() {
    out_.layers_per_pass = placement_.n_layers;
    SetFlags();
    AssignTypes(options_.config, placement_.passes, out_);
    CheckWithModules();
    CheckExperts();
    DescribeAnchor();
    Abstain();
    if (!attribution_.cpu_only) out_.steady_pass = FindSteadyPass(trace_.activities, out_);
    Warn();
  }

  void SetFlags() {
    for (Pass& pass : out_.passes) {
      const bool draft = pass.kind == PassKind::kDraft;
      for (uint32_t i = 0; i < pass.n_layers; ++i) {
        Layer& layer = out_.layers[pass.first_layer + i];
        if (layer.index == 0) layer.flags |= kLayerFirst;
        const bool last = draft ? pass.complete && i + 1 == pass.n_layers
                                : layer.index + 1 == out_.layers_per_pass;
        if (last) layer.flags |= kLayerFinal;
      }
    }
  }

  void CheckWithModules() {
    if (attribution_.cpu_only) return;
    out_.modules = CompareWithModules(trace_, attribution_, is_helper_, out_);
    if (!out_.modules || out_.modules->n_layers == 0) return;
    const bool agree = out_.modules->n_agreeing == out_.modules->n_layers;
    for (Pass& pass : out_.passes) {
      // A draft model's scopes are not compared.
      if (pass.n_layers == 0 || !pass.complete || pass.kind == PassKind::kDraft) continue;
      if (!agree) {
        pass.confidence = std::min(pass.confidence, kContradicted);
      } else if (!CountDiffers()) {
        pass.confidence = std::max(pass.confidence, kConfirmed);
      }
    }
    if (agree) return;
    const ModuleAgreement& modules = *out_.modules;
    Add("module_disagreement", table::Severity::kWarning, modules.n_layers - modules.n_agreeing,
        fmt::format(
            "layer boundaries differ by {} from the {} scopes, in {} of {} layers",
            modules.n_displaced == 1 ? "1 kernel" : fmt::format("{} kernels", modules.n_displaced),
            modules.module_class, modules.n_layers - modules.n_agreeing, modules.n_layers));
  }

  /// The user or the config says another number of layers: nothing makes the cut sure then.
  bool CountDiffers() const {
    return std::any_of(
        placement_.warnings.begin(), placement_.warnings.end(),
        [](const table::HealthEntry& entry) { return entry.code == "layer_count_differs"; });
  }

  /// As many layers as the config has, and of another kind: the config confirms nothing.
  void CheckExperts() {
    if (options_.config == nullptr) return;
    ExpertMismatch mismatch = FindExpertMismatch(placement_.passes, *options_.config);
    if (mismatch.passes.empty()) return;
    for (const size_t pass : mismatch.passes) {
      out_.passes[pass].confidence = std::min(out_.passes[pass].confidence, kOtherModel);
    }
    out_.warnings.push_back(
        ConfigMismatch(static_cast<int64_t>(mismatch.passes.size()), std::move(mismatch.why)));
  }

  /// How the target's whole passes were cut; the confidence is that of the least sure one.
  void DescribeAnchor() {
    const PlacedPass* shown = nullptr;
    double confidence = 1;
    for (size_t i = 0; i < placement_.passes.size(); ++i) {
      const PlacedPass& pass = placement_.passes[i];
      if (pass.layers.empty() || pass.is_draft()) continue;
      if (shown == nullptr || (pass.complete && !shown->complete)) {
        shown = &pass;
        confidence = out_.passes[i].confidence;
      }
      if (pass.complete || !shown->complete) {
        confidence = std::min(confidence, out_.passes[i].confidence);
      }
    }
    out_.anchor.pattern = source_.user ? options_.anchor : "";
    if (shown == nullptr) return;
    out_.anchor.kind = shown->kind;
    out_.anchor.confidence = confidence;
    if (shown->kind == "repetition") {
      out_.anchor.evidence = attribution::Evidence::kPeriodicity;
      return;
    }
    NameOtherKinds();
    out_.anchor.evidence = attribution::Evidence::kAnchorKernel;
    out_.anchor.of_profile = !source_.user;
    if (!source_.user) {
      out_.anchor.pattern = fmt::format("{}", fmt::join(options_.profile->anchor.patterns, "|"));
    }
    out_.anchor.kernels = AnchorKernels(trace_, groups_);
    out_.anchor.per_layer = shown->anchors_per_layer;
    out_.anchor.offset = options_.anchor_offset;
  }

  /// Passes that the anchor did not fit say so: the anchor described is not theirs.
  void NameOtherKinds() {
    for (size_t i = 0; i < placement_.passes.size(); ++i) {
      const PlacedPass& pass = placement_.passes[i];
      if (pass.layers.empty() || pass.is_draft() || pass.kind != "repetition") continue;
      std::string& note = out_.passes[i].note;
      note += (note.empty() ? "" : "; ") + std::string("layers found by repetition");
    }
  }

  /// What would settle an uncertain cut and was not given.
  std::string WhatToGive() const {
    std::vector<std::string_view> options;
    if (options_.anchor.empty()) options.push_back("--anchor-kernel");
    if (options_.config == nullptr) options.push_back("--config");
    if (options_.config == nullptr && !options_.num_layers) options.push_back("--num-layers");
    if (options.empty()) return "compare them with the model";
    return fmt::format("check them with {}", fmt::join(options, " or "));
  }

  void Abstain() {
    if (!out_.layers.empty()) return;
    out_.layers_per_pass = std::nullopt;
    for (const PlacedPass& pass : placement_.passes) {
      if (pass.abstained.code.empty()) continue;
      out_.abstained = pass.abstained;
      // A pass that ran says more than a capture.
      if (!pass.group->is_capture()) return;
    }
    if (out_.abstained) return;
    if (target_.rows.empty()) {
      out_.abstained = table::Abstention{std::string(kNoKernels), "no kernel ran in this selection",
                                         "record the GPU's activity, or select another device"};
      return;
    }
    out_.abstained =
        table::Abstention{"no_passes", "the kernels show no pass of a decoder model",
                          "give --anchor-kernel, or record with the engine's step annotations"};
  }

  void Add(const char* code, table::Severity severity, int64_t count, std::string message) {
    out_.warnings.push_back({code, severity, count, std::move(message)});
  }

  void Warn() {
    std::move(placement_.warnings.begin(), placement_.warnings.end(),
              std::back_inserter(out_.warnings));
    int64_t n_low = 0;
    double lowest = kConfident;
    double highest = 0;
    int64_t n_partial = 0;
    for (const Pass& pass : out_.passes) {
      n_partial += pass.n_layers > 0 && !pass.complete ? 1 : 0;
      if (pass.n_layers > 0 && pass.confidence < kConfident) {
        ++n_low;
        lowest = std::min(lowest, pass.confidence);
        highest = std::max(highest, pass.confidence);
      }
    }
    if (n_low > 0) {
      Add("low_confidence", table::Severity::kWarning, n_low,
          fmt::format("the layers of {} are uncertain (confidence {:.2f}{}): {}", Passes(n_low),
                      lowest, highest > lowest ? fmt::format(" to {:.2f}", highest) : "",
                      WhatToGive()));
    }
    if (n_partial > 0) {
      Add("partial_pass", table::Severity::kInfo, n_partial,
          fmt::format("{} only in part inside the window",
                      n_partial == 1 ? "1 pass lies" : fmt::format("{} passes lie", n_partial)));
    }
    if (out_.layers.empty()) return;
    if (auto withheld = PassesWithoutLayers(trace_, target_, placement_.passes, out_)) {
      out_.warnings.push_back(*std::move(withheld));
    }
  }

  static std::string Passes(int64_t n) { return n == 1 ? "1 pass" : fmt::format("{} passes", n); }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  const LayerOptions& options_;
  NameTraits traits_;
  TargetRows target_;
  std::vector<PassGroup> groups_;
  AnchorSource source_;
  std::vector<uint8_t> is_helper_;  // by StringId index: AnchorChoice
  Placement placement_;
  LayerStructure out_;
};

}  // namespace

base::Result<LayerStructure> FindLayers(const trace::Trace& trace,
                                        const attribution::Attribution& attribution,
                                        const LayerOptions& options) {
  return LayerFinder(trace, attribution, options).Find();
}

}  // namespace layerscope::layers
