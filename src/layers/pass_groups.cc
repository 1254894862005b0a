#include "src/layers/pass_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "src/layers/forward_split.h"

namespace layerscope::layers {
namespace {

using attribution::StepId;

class GroupBuilder {
 public:
  GroupBuilder(const trace::Trace& trace, const attribution::Attribution& attribution,
               const TargetRows& target, NameTraits& traits)
      : trace_(trace), attribution_(attribution), target_(target), traits_(traits) {}

  std::vector<PassGroup> Build() {
    for (const uint32_t row : target_.rows) {
      if (trace_.activities.kind[row] == trace::ActivityKind::kKernel) kernels_.push_back(row);
    }
    const bool has_steps = std::any_of(kernels_.begin(), kernels_.end(), [&](uint32_t row) {
      return attribution_.step[row].valid();
    });
    if (has_steps) {
      BuildBySteps();
    } else {
      BuildWithoutSteps();
    }
    std::stable_sort(groups_.begin(), groups_.end(), [](const PassGroup& a, const PassGroup& b) {
      return a.start_ns < b.start_ns;
    });
    return std::move(groups_);
  }

 private:
  struct StreamCount {
    size_t n_kernels = 0;
    size_t n_mixers = 0;
  };

  Token TokenOf(uint32_t row) {
    const trace::StringId name = trace_.activities.name[row];
    Token token;
    token.name = static_cast<uint32_t>(name.index());
    token.row = row;
    token.traits = traits_.Of(name);
    return token;
  }

  /// The streams that carry a forward each: the one with most kernels, or several where each does
  /// nearly the same work (micro-batches that overlap).
  std::vector<trace::StreamId> MainStreams(const std::vector<uint32_t>& rows) {
    std::map<trace::StreamId, StreamCount> counts;
    for (const uint32_t row : rows) {
      StreamCount& count = counts[trace_.activities.stream[row]];
      ++count.n_kernels;
      const KernelTraits& traits = traits_.Of(trace_.activities.name[row]);
      count.n_mixers += traits.kind == KernelClass::kMixer ? 1 : 0;
    }
    trace::StreamId most;
    StreamCount best;
    for (const auto& [stream, count] : counts) {
      // A side stream may hold more kernels than the one that mixes, never the mixers alone.
      const bool mixes = count.n_mixers >= 2;
      const bool best_mixes = best.n_mixers >= 2;
      if (most.valid() && mixes == best_mixes && count.n_kernels <= best.n_kernels) continue;
      if (most.valid() && best_mixes && !mixes) continue;
      most = stream;
      best = count;
    }
    std::vector<trace::StreamId> streams;
    const auto nearly = [](size_t n, size_t of) { return n * 5 >= of * 4; };
    for (const auto& [stream, count] : counts) {
      const bool twin = best.n_mixers >= 2 && nearly(count.n_mixers, best.n_mixers) &&
                        nearly(best.n_mixers, count.n_mixers) &&
                        nearly(count.n_kernels, best.n_kernels);
      if (stream == most || twin) streams.push_back(stream);
    }
    return streams;
  }

  /// By step, then what is launched outside of them.
  void BuildBySteps() {
    std::vector<std::vector<uint32_t>> by_step(attribution_.steps.size());
    int64_t first_ns = std::numeric_limits<int64_t>::max();
    size_t last_step = 0;
    for (const uint32_t row : kernels_) {
      const StepId step = attribution_.step[row];
      if (!step.valid()) continue;
      by_step[step.index()].push_back(row);
      first_ns = std::min(first_ns, trace_.activities.start_ns[row]);
      last_step = step.index();
    }
    AddBeforeFirst(first_ns);
    for (size_t i = 0; i < by_step.size(); ++i) {
      if (by_step[i].empty()) continue;
      const attribution::Step& step = attribution_.steps[i];
      const size_t first_group = groups_.size();
      AddForwards(by_step[i], {});
      for (size_t g = first_group; g < groups_.size(); ++g) {
        PassGroup& group = groups_[g];
        group.step = StepId(i);
        group.batch = step.fields.requests;
        if (group.kind == PassKind::kUnknown) group.kind = KindOf(step.fields.phase);
      }
      // Nothing follows it that would prove it whole.
      if (i == last_step) groups_.back().may_be_cut_last = true;
    }
    AddUnclaimed();
  }

  /// Passes from before the window: kernels without a launch, and when mixers are among them those
  /// launched outside every step, that run before the first step's.
  void AddBeforeFirst(int64_t first_ns) {
    std::vector<uint32_t> lost;
    std::vector<uint32_t> all;
    bool mixes = false;
    for (const uint32_t row : kernels_) {
      if (trace_.activities.start_ns[row] >= first_ns) break;
      if (attribution_.step[row].valid()) continue;
      all.push_back(row);
      const bool is_mixer = traits_.Of(trace_.activities.name[row]).kind == KernelClass::kMixer;
      if (attribution_.launch[row].valid()) {
        mixes = mixes || is_mixer;
      } else {
        lost.push_back(row);
      }
    }
    std::vector<uint32_t>& rows = mixes ? all : lost;
    if (rows.empty()) return;
    const size_t first_group = groups_.size();
    AddForwards(rows, {.first_may_be_partial = true, .last_may_be_partial = false});
    if (groups_.size() > first_group) groups_[first_group].began_before = true;
  }

  void BuildWithoutSteps() {
    std::vector<uint32_t> lost;
    std::vector<uint32_t> rest;
    const bool any_launch = std::any_of(kernels_.begin(), kernels_.end(), [&](uint32_t row) {
      return attribution_.launch[row].valid();
    });
    for (const uint32_t row : kernels_) {
      const bool is_lost = any_launch && rest.empty() && !attribution_.launch[row].valid();
      (is_lost ? lost : rest).push_back(row);
    }
    if (!lost.empty()) {
      AddForwards(lost, {.first_may_be_partial = true, .last_may_be_partial = false});
      if (!groups_.empty()) groups_.front().began_before = true;
    }
    const size_t first_rest = groups_.size();
    AddForwards(rest, {.first_may_be_partial = !any_launch, .last_may_be_partial = true});
    if (groups_.size() == first_rest) return;
    if (!any_launch && groups_.size() > first_rest + 1) groups_[first_rest].began_before = true;
    groups_.back().may_be_cut_last = true;
    for (PassGroup& group : groups_) group.few_mixers = CountMixerRuns(group.tokens) < 2;
  }

  /// Adds the forwards of `rows` (by start).
  void AddForwards(const std::vector<uint32_t>& rows, SequenceEnds ends) {
    const std::vector<trace::StreamId> mains = MainStreams(rows);
    const size_t first_group = groups_.size();
    std::vector<uint32_t> others;
    std::vector<std::vector<Token>> tokens(mains.size());
    for (const uint32_t row : rows) {
      const auto at = std::find(mains.begin(), mains.end(), trace_.activities.stream[row]);
      if (at == mains.end()) {
        others.push_back(row);
      } else {
        tokens[static_cast<size_t>(at - mains.begin())].push_back(TokenOf(row));
      }
    }
    for (const std::vector<Token>& sequence : tokens) AddSequence(sequence, ends);
    if (mains.size() > 1) NumberMicroBatches(first_group, mains.size());
    GiveOthers(others, first_group, mains.size() > 1);
  }

  void AddSequence(const std::vector<Token>& tokens, SequenceEnds ends) {
    std::vector<uint32_t> begins = FindForwards(trace_.activities, attribution_, tokens, ends);
    begins.push_back(static_cast<uint32_t>(tokens.size()));
    const size_t first_group = groups_.size();
    size_t most = 0;
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      PassGroup group;
      group.tokens.assign(tokens.begin() + begins[i], tokens.begin() + begins[i + 1]);
      if (group.tokens.empty()) continue;
      group.start_ns = trace_.activities.start_ns[group.tokens.front().row];
      most = std::max(most, CountMixerRuns(group.tokens));
      groups_.push_back(std::move(group));
    }
    // Less than half of a forward's mixers, and not at an open end: a draft model's forward.
    for (size_t g = first_group; g < groups_.size(); ++g) {
      const bool open_end = (g == first_group && ends.first_may_be_partial) ||
                            (g + 1 == groups_.size() && ends.last_may_be_partial);
      if (open_end || CountMixerRuns(groups_[g].tokens) * 2 >= most) continue;
      groups_[g].kind = PassKind::kDraft;
    }
  }

  void NumberMicroBatches(size_t first_group, size_t n_streams) {
    const size_t n = groups_.size() - first_group;
    if (n % n_streams != 0) return;
    std::stable_sort(
        groups_.begin() + static_cast<std::ptrdiff_t>(first_group), groups_.end(),
        [](const PassGroup& a, const PassGroup& b) { return a.start_ns < b.start_ns; });
    for (size_t i = 0; i < n; ++i) {
      groups_[first_group + i].note =
          fmt::format("micro-batch {} of {}", i % n_streams + 1, n_streams);
    }
  }

  /// Kernels of other streams belong to the forward that runs when they start; of micro-batches to
  /// the one whose kernel was launched last before them.
  void GiveOthers(const std::vector<uint32_t>& others, size_t first_group, bool by_launch) {
    if (groups_.size() == first_group || others.empty()) return;
    std::vector<std::pair<int64_t, size_t>> begins;  // time, group
    const auto time_of = [&](uint32_t row) {
      const trace::CallId launch = attribution_.launch[row];
      return by_launch && launch.valid() ? trace_.calls.start_ns[launch.index()]
                                         : trace_.activities.start_ns[row];
    };
    for (size_t g = first_group; g < groups_.size(); ++g) {
      const std::vector<Token>& tokens = groups_[g].tokens;
      const size_t n_marks = by_launch ? tokens.size() : 1;
      for (size_t i = 0; i < n_marks; ++i) begins.emplace_back(time_of(tokens[i].row), g);
    }
    std::stable_sort(begins.begin(), begins.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const uint32_t row : others) {
      const auto after =
          std::upper_bound(begins.begin(), begins.end(), time_of(row),
                           [](int64_t t_ns, const auto& entry) { return t_ns < entry.first; });
      groups_[after == begins.begin() ? begins.front().second : (after - 1)->second]
          .others.push_back(row);
    }
  }

  /// Kernels that no step claims but that run on a pass's main stream inside it are its own:
  /// nothing else can run there.
  void AddUnclaimed() {
    std::vector<uint8_t> claimed(trace_.activities.size(), 0);
    std::vector<size_t> order;
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (const Token& token : groups_[g].tokens) claimed[token.row] = 1;
      for (const uint32_t row : groups_[g].others) claimed[row] = 1;
      order.push_back(g);
      last_start_ns_.push_back(trace_.activities.start_ns[groups_[g].tokens.back().row]);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return groups_[a].start_ns < groups_[b].start_ns; });
    std::vector<uint8_t> grew(groups_.size(), 0);
    for (const uint32_t row : kernels_) {
      if (claimed[row] != 0 || attribution_.step[row].valid()) continue;
      const size_t g = GroupAt(order, row);
      if (g == groups_.size()) continue;
      groups_[g].tokens.push_back(TokenOf(row));
      grew[g] = 1;
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (grew[g] == 0) continue;
      std::sort(groups_[g].tokens.begin(), groups_[g].tokens.end(),
                [&](const Token& a, const Token& b) {
                  return std::pair(trace_.activities.start_ns[a.row], a.row) <
                         std::pair(trace_.activities.start_ns[b.row], b.row);
                });
    }
  }

  /// The group on whose main stream, between its first and its last own kernel, a row starts.
  size_t GroupAt(const std::vector<size_t>& order, uint32_t row) const {
    const int64_t t_ns = trace_.activities.start_ns[row];
    const auto after = std::upper_bound(order.begin(), order.end(), t_ns, [&](int64_t t, size_t g) {
      return t < groups_[g].start_ns;
    });
    // Micro-batches overlap, so the one that began last need not be the one; two suffice.
    constexpr int kLooks = 2;
    auto at = after;
    for (int i = 0; i < kLooks && at != order.begin(); ++i) {
      --at;
      const std::vector<Token>& tokens = groups_[*at].tokens;
      const uint32_t first = tokens.front().row;
      if (trace_.activities.stream[first] != trace_.activities.stream[row]) continue;
      if (t_ns < last_start_ns_[*at]) return *at;
    }
    return groups_.size();
  }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  const TargetRows& target_;
  NameTraits& traits_;
  std::vector<uint32_t> kernels_;
  std::vector<PassGroup> groups_;
  std::vector<int64_t> last_start_ns_;  // by group, of its own kernels
};

}  // namespace

std::vector<PassGroup> BuildPassGroups(const trace::Trace& trace,
                                       const attribution::Attribution& attribution,
                                       const TargetRows& target, NameTraits& traits) {
  return GroupBuilder(trace, attribution, target, traits).Build();
}

}  // namespace layerscope::layers
