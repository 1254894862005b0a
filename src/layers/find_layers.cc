#include "src/layers/find_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/layers/anchor_pattern.h"
#include "src/layers/capture_groups.h"
#include "src/layers/layer_columns.h"
#include "src/layers/layer_types.h"
#include "src/layers/module_agreement.h"
#include "src/layers/pass_groups.h"
#include "src/layers/pass_placement.h"
#include "src/layers/side_ffn.h"
#include "src/layers/steady_state.h"
#include "src/layers/target_rows.h"

namespace layerscope::layers {
namespace {

/// A cut that scopes of modules confirm, kernel by kernel, needs no other sign.
constexpr double kConfirmed = 0.99;
/// And one that they contradict is not shown without a warning.
constexpr double kContradicted = 0.5;

class LayerFinder {
 public:
  LayerFinder(const trace::Trace& trace, const attribution::Attribution& attribution,
              const LayerOptions& options)
      : trace_(trace), attribution_(attribution), options_(options), traits_(trace) {}

  base::Result<LayerStructure> Find() {
    out_.profile = options_.profile->name;
    out_.profile_why = options_.profile_why;
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
  base::Status BuildGroups() {
    groups_ = BuildPassGroups(trace_, attribution_, target_, traits_);
    for (PassGroup& group : groups_) {
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
    std::vector<uint8_t> profiles(trace_.strings.size(), 0);
    // The profile of no config only proposes: nothing says how many blocks its anchor opens.
    const bool proposes = options_.config == nullptr &&
                          options_.profile->name == model::ChooseProfile(nullptr).profile->name;
    for (const std::string& pattern : options_.profile->anchor.patterns) {
      const auto matches = MatchAnchor(trace_.strings, traits_.known(), pattern);
      if (!matches.ok()) continue;
      for (size_t i = 0; i < matches->size(); ++i) profiles[i] |= (*matches)[i];
    }
    out_.anchor_name = proposes ? std::vector<uint8_t>(trace_.strings.size(), 0) : profiles;
    source_.profile = !proposes;
    if (!options_.anchor.empty()) {
      auto matches = MatchAnchor(trace_.strings, traits_.known(), options_.anchor);
      if (!matches.ok()) return std::move(matches).error();
      out_.anchor_name = *std::move(matches);
      source_.user = true;
      for (size_t i = 0; i < profiles.size(); ++i) {
        if (out_.anchor_name[i] != 0 && profiles[i] == 0) source_.profile = false;
      }
    }
    const bool any = std::any_of(out_.anchor_name.begin(), out_.anchor_name.end(),
                                 [](uint8_t matches) { return matches != 0; });
    if (!any) source_ = {};
    for (PassGroup& group : groups_) {
      for (Token& token : group.tokens) token.anchor = out_.anchor_name[token.name] != 0;
    }
    return {};
  }

  void Describe() {
    out_.layers_per_pass = placement_.n_layers;
    SetFlags();
    AssignTypes(options_.config, placement_.passes, out_);
    CheckWithModules();
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
    out_.modules = CompareWithModules(trace_, attribution_, out_);
    if (!out_.modules || out_.modules->n_layers == 0) return;
    const bool agree = out_.modules->n_agreeing == out_.modules->n_layers;
    for (Pass& pass : out_.passes) {
      if (pass.n_layers == 0 || !pass.complete) continue;
      pass.confidence =
          agree ? std::max(pass.confidence, kConfirmed) : std::min(pass.confidence, kContradicted);
    }
    if (agree) return;
    Add("module_disagreement", table::Severity::kWarning,
        out_.modules->n_layers - out_.modules->n_agreeing,
        fmt::format("{} of {} layers do not hold exactly the kernels of one {} scope",
                    out_.modules->n_layers - out_.modules->n_agreeing, out_.modules->n_layers,
                    out_.modules->module_class));
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
    out_.anchor.evidence = attribution::Evidence::kAnchorKernel;
    if (!source_.user) {
      out_.anchor.pattern = fmt::format("{}", fmt::join(options_.profile->anchor.patterns, "|"));
    }
    out_.anchor.per_layer = shown->anchors_per_layer;
    out_.anchor.offset = options_.anchor_offset;
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
      out_.abstained = table::Abstention{"no_kernels", "no kernel ran in this selection",
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
    int64_t n_partial = 0;
    int64_t n_withheld = 0;
    std::string why;
    for (size_t i = 0; i < out_.passes.size(); ++i) {
      const Pass& pass = out_.passes[i];
      n_low += pass.n_layers > 0 && pass.confidence < kConfident ? 1 : 0;
      n_partial += pass.n_layers > 0 && !pass.complete ? 1 : 0;
      const table::Abstention& abstained = placement_.passes[i].abstained;
      if (pass.n_layers > 0 || abstained.code.empty()) continue;
      ++n_withheld;
      if (why.empty()) why = abstained.why;
    }
    if (n_low > 0) {
      Add("low_confidence", table::Severity::kWarning, n_low,
          fmt::format("the layers of {} are uncertain (confidence {:.2f}): check them with "
                      "--anchor-kernel or --config",
                      Passes(n_low), out_.anchor.confidence));
    }
    if (n_partial > 0) {
      Add("partial_pass", table::Severity::kInfo, n_partial,
          fmt::format("{} only in part inside the window",
                      n_partial == 1 ? "1 pass lies" : fmt::format("{} passes lie", n_partial)));
    }
    if (n_withheld > 0 && !out_.layers.empty()) {
      Add("passes_without_layers", table::Severity::kWarning, n_withheld,
          fmt::format("{} show no layers: {}", Passes(n_withheld), why));
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
  Placement placement_;
  LayerStructure out_;
};

}  // namespace

base::Result<LayerStructure> FindLayers(const trace::Trace& trace,
                                        const attribution::Attribution& attribution,
                                        const kernel_names::RuleSet& /*rules*/,
                                        const LayerOptions& options) {
  return LayerFinder(trace, attribution, options).Find();
}

}  // namespace layerscope::layers
