#include "src/replay/label_fit.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "src/replay/label_lanes.h"
#include "src/replay/lane_alignment.h"

namespace layerscope::replay {
namespace {

/// A table of which symbols fit, in entries.
constexpr size_t kMostFits = size_t{1} << 24;

class LabelFit {
 public:
  LabelFit(const trace::Trace& trace, const ReplayedSequence& replayed,
           const RecordedSequence& recorded, const RecordedLabels& labels)
      : trace_(trace), replayed_(replayed), recorded_(recorded), labels_(labels) {
    for (uint32_t i = 0; i < replayed.elements.size(); ++i) {
      if (!replayed.elements[i].is_copy) position_.push_back(i);
    }
    run_of_.resize(labels.label.size());
    for (uint32_t run = 0; run < labels.runs.size(); ++run) {
      for (uint32_t k = labels.runs[run].begin; k < labels.runs[run].end; ++k) run_of_[k] = run;
    }
  }

  PieceFit Fit() {
    fit_.kernels = replayed_.n_kernels;
    if (position_.empty() || position_.size() != labels_.label.size()) {
      fit_.reason = fmt::format(
          "the graph has {} kernels and the capture, which does not name its "
          "kernels, {}",
          position_.size(), labels_.label.size());
      return std::move(fit_);
    }
    ReadFamilies();
    kernel_of_.resize(position_.size());
    for (uint32_t k = 0; k < kernel_of_.size(); ++k) kernel_of_[k] = k;
    if (!replayed_.one_lane && !LayLanes()) {
      fit_.reason = "its branches can be laid over the capture in too many ways, or in none";
      return std::move(fit_);
    }
    Judge();
    Write();
    return std::move(fit_);
  }

 private:
  struct Kernel {
    trace::StringId name;
    WorkFamily family = WorkFamily::kUnknown;
  };

  void ReadFamilies() {
    std::map<trace::StringId, WorkFamily> family_of;
    for (const uint32_t at : position_) {
      const trace::StringId name = replayed_.names[at];
      const auto [known, is_new] = family_of.try_emplace(name, WorkFamily::kUnknown);
      if (is_new) known->second = FamilyOfKernel(trace_.strings[name]);
      kernels_.push_back({name, known->second});
    }
  }

  const RecordedLabels::Run& RunOf(size_t recorded_kernel) const {
    return labels_.runs[run_of_[recorded_kernel]];
  }

  /// May this kernel have been launched by this op? For a single kernel of an op that launches
  /// several nothing is demanded.
  bool MayBe(const Kernel& kernel, const RecordedLabels::Run& run) const {
    if (!run.kernel.empty()) return trace_.strings[kernel.name] == run.kernel;
    if (run.end - run.begin > 1) return true;
    return run.family == WorkFamily::kUnknown || kernel.family == WorkFamily::kUnknown ||
           run.family == kernel.family;
  }

  /// Symbols are kernel names on the replayed side and labels on the recorded one.
  bool LayLanes() {
    std::map<trace::StringId, uint32_t> symbol_of;
    std::vector<Element> replayed, recorded;
    std::vector<Kernel> by_symbol;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const auto next = static_cast<uint32_t>(symbol_of.size());
      const auto [at, is_new] = symbol_of.try_emplace(kernels_[k].name, next);
      if (is_new) by_symbol.push_back(kernels_[k]);
      replayed.push_back({at->second, replayed_.elements[position_[k]].lane, false});
    }
    std::vector<uint32_t> run_of_label, places;
    for (size_t k = 0; k < labels_.label.size(); ++k) {
      const uint32_t label = labels_.label[k];
      recorded.push_back({label, 0, false, recorded_.elements[labels_.node[k]].chain});
      places.push_back(recorded_.places[labels_.node[k]]);
      run_of_label.resize(std::max<size_t>(run_of_label.size(), label + 1));
      run_of_label[label] = run_of_[k];
    }
    SymbolFits fits;
    fits.n_recorded = static_cast<uint32_t>(run_of_label.size());
    if (by_symbol.size() * run_of_label.size() > kMostFits) return false;
    for (const Kernel& kernel : by_symbol) {
      for (const uint32_t run : run_of_label) {
        fits.fits.push_back(MayBe(kernel, labels_.runs[run]) ? 1 : 0);
      }
    }
    LabelLanes lanes(replayed, recorded, places, std::move(fits));
    const bool found = lanes.Lay();
    fit_.work += lanes.work();
    if (found) kernel_of_ = lanes.recorded_of();
    return found;
  }

  /// Takes back places whose op and kernels contradict each other, and counts those that agree.
  void Judge() {
    const std::vector<uint32_t> laid = ReplayedOf();
    agrees_.assign(kernels_.size(), 0);
    disagrees_.assign(kernels_.size(), 0);
    for (const RecordedLabels::Run& run : labels_.runs) JudgeRun(run, laid);
    JudgeLabels();
    JudgeNames();
  }

  /// By recorded kernel: the replayed one, or kUnmatched.
  std::vector<uint32_t> ReplayedOf() const {
    std::vector<uint32_t> laid(labels_.label.size(), kUnmatched);
    for (uint32_t k = 0; k < kernel_of_.size(); ++k) {
      if (kernel_of_[k] != kUnmatched) laid[kernel_of_[k]] = k;
    }
    return laid;
  }

  void JudgeRun(const RecordedLabels::Run& run, const std::vector<uint32_t>& laid) {
    bool known = false, shown = false;
    for (uint32_t r = run.begin; r < run.end; ++r) {
      if (laid[r] == kUnmatched) continue;
      const Kernel& kernel = kernels_[laid[r]];
      known |= kernel.family != WorkFamily::kUnknown;
      shown |= kernel.family == run.family;
      if (run.kernel.empty()) continue;
      const bool named = trace_.strings[kernel.name] == run.kernel;
      (named ? agrees_ : disagrees_)[laid[r]] = 1;
    }
    if (!run.kernel.empty() || run.family == WorkFamily::kUnknown || !known) return;
    for (uint32_t r = run.begin; r < run.end; ++r) {
      if (laid[r] != kUnmatched) (shown ? agrees_ : disagrees_)[laid[r]] = 1;
    }
  }

  /// Where only some launches name their kernels, these must be the ones that ran.
  void JudgeNames() {
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (kernel_of_[k] == kUnmatched) continue;
      const uint32_t symbol = recorded_.elements[labels_.node[kernel_of_[k]]].symbol;
      if (symbol == kUnnamed) continue;
      const bool same = symbol == replayed_.elements[position_[k]].symbol;
      agrees_[k] = same ? 1 : 0;
      disagrees_[k] = same ? 0 : 1;
    }
  }

  /// Kernels of one label do one kind of work.
  void JudgeLabels() {
    std::map<uint32_t, std::map<WorkFamily, int64_t>> by_label;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (kernel_of_[k] == kUnmatched) continue;
      ++by_label[labels_.label[kernel_of_[k]]][kernels_[k].family];
    }
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (kernel_of_[k] == kUnmatched) continue;
      const auto& families = by_label[labels_.label[kernel_of_[k]]];
      const auto most =
          std::max_element(families.begin(), families.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (families.at(kernels_[k].family) < most->second) disagrees_[k] = 1;
    }
  }

  void Write() {
    fit_.node_of.assign(replayed_.elements.size(), kUnmatched);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      fit_.differences += disagrees_[k];
      fit_.uncertain += kernel_of_[k] == kUnmatched ? 1 : 0;
      if (kernel_of_[k] == kUnmatched || disagrees_[k] != 0) continue;
      ++fit_.matched;
      fit_.agreeing += agrees_[k];
      fit_.node_of[position_[k]] = labels_.node[kernel_of_[k]];
    }
    WriteCopies();
    fit_.possible = fit_.matched * 2 >= fit_.kernels;
  }

  /// Copies between two kernels that are neighbours on both sides, when they are as many.
  void WriteCopies() {
    if (!replayed_.one_lane) return;
    for (size_t k = 0; k <= position_.size(); ++k) {
      const size_t from = k == 0 ? 0 : position_[k - 1] + 1;
      const size_t to = k == position_.size() ? replayed_.elements.size() : position_[k];
      const size_t node_from = k == 0 ? 0 : labels_.node[k - 1] + 1;
      const size_t node_to = k == position_.size() ? recorded_.elements.size() : labels_.node[k];
      if (to - from != node_to - node_from) continue;
      for (size_t i = 0; i < to - from; ++i) {
        if (replayed_.elements[from + i].symbol != recorded_.elements[node_from + i].symbol) break;
        fit_.node_of[from + i] = static_cast<uint32_t>(node_from + i);
      }
    }
  }

  const trace::Trace& trace_;
  const ReplayedSequence& replayed_;
  const RecordedSequence& recorded_;
  const RecordedLabels& labels_;
  PieceFit fit_;
  std::vector<uint32_t> position_;           // by replayed kernel: position in the sequence
  std::vector<Kernel> kernels_;              // by replayed kernel
  std::vector<uint32_t> run_of_;             // by recorded kernel
  std::vector<uint32_t> kernel_of_;          // by replayed kernel: the recorded one, or kUnmatched
  std::vector<uint8_t> agrees_, disagrees_;  // by replayed kernel
};

}  // namespace

PieceFit FitByLabels(const trace::Trace& trace, const ReplayedSequence& replayed,
                     const RecordedSequence& recorded, const RecordedLabels& labels) {
  return LabelFit(trace, replayed, recorded, labels).Fit();
}

}  // namespace layerscope::replay
