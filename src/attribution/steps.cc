#include "src/attribution/steps.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "src/attribution/annotations_inside.h"
#include "src/base/checked_sum.h"

namespace layerscope::attribution {
namespace {

/// The step annotations of a trace as columns; captures stand apart, they are no steps.
struct Candidates {
  std::vector<uint32_t> annotation;
  std::vector<StepFamily> family;
  std::vector<StepFields> fields;
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;  ///< at least 0: what has a negative length covers nothing
  std::vector<trace::ThreadId> thread;
  size_t size() const { return annotation.size(); }
  Intervals intervals() const { return {start_ns, dur_ns}; }
};

/// Captures of graphs, and what a process launches outside of them.
class Captures {
 public:
  Captures(const trace::Trace& trace, const std::vector<uint8_t>& is_launch)
      : trace_(trace), is_launch_(is_launch) {}

  void Add(trace::ProcessId process, int64_t start_ns, int64_t dur_ns) {
    inside_.Add(process, start_ns, base::AddClamped(start_ns, dur_ns));
    process_.push_back(process);
    start_ns_.push_back(start_ns);
    dur_ns_.push_back(dur_ns);
  }

  void Freeze() {
    inside_.Freeze();
    if (!process_.empty()) FindOtherLaunches();
  }

  /// True when [start, end) holds captures and the process launches nothing else in it.
  bool AreAllOf(trace::ProcessId process, int64_t start_ns, int64_t end_ns) const {
    if (!inside_.Any(process, start_ns, end_ns)) return false;
    const auto other = std::lower_bound(other_launches_.begin(), other_launches_.end(),
                                        std::pair(process, start_ns));
    return other == other_launches_.end() || *other >= std::pair(process, end_ns);
  }

 private:
  void FindOtherLaunches() {
    const Intervals intervals{start_ns_, dur_ns_};
    const LaneOrder order = LaneOrder::Build(std::span<const trace::ProcessId>(process_),
                                             trace_.processes.size(), intervals);
    InnermostIndex captures(order, intervals);
    const trace::Calls& calls = trace_.calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (is_launch_[calls.name[i].index()] == 0) continue;
      const trace::ProcessId process = trace_.threads[calls.thread[i].index()].process;
      if (captures.Find(process.index(), calls.start_ns[i]) == kNoRow) {
        other_launches_.emplace_back(process, calls.start_ns[i]);
      }
    }
    std::sort(other_launches_.begin(), other_launches_.end());
  }

  const trace::Trace& trace_;
  const std::vector<uint8_t>& is_launch_;
  AnnotationsInside inside_;
  std::vector<trace::ProcessId> process_;
  std::vector<int64_t> start_ns_;
  std::vector<int64_t> dur_ns_;
  std::vector<std::pair<trace::ProcessId, int64_t>> other_launches_;
};

/// Decides which candidates are steps, innermost first.
class StepBuilder {
 public:
  StepBuilder(const trace::Trace& trace, const std::vector<uint8_t>& is_launch)
      : trace_(trace), captures_(trace, is_launch) {}

  StepTable Build() && {
    Collect();
    if (candidates_.size() == 0) return {{}, n_out_of_range_};
    const LaneOrder order = LaneOrder::Build(std::span<const trace::ThreadId>(candidates_.thread),
                                             trace_.threads.size(), candidates_.intervals());
    below_.resize(candidates_.size());
    is_step_.resize(candidates_.size(), 0);
    FindOuters(order);
    for (size_t lane = 0; lane < order.n_lanes(); ++lane) {
      const std::span<const uint32_t> rows = order.rows(lane);
      for (size_t i = rows.size(); i > 0; --i) Decide(rows[i - 1]);
    }
    return {Steps(), n_out_of_range_};
  }

 private:
  static constexpr uint32_t kNone = kNoRow;

  /// What lies inside of a candidate on its thread.
  struct Below {
    size_t n_steps = 0;           ///< engine steps
    uint32_t step = kNone;        ///< one of them
    uint32_t families = 0;        ///< of the outermost engine annotations, one bit each
    size_t n_profiler_steps = 0;  ///< not inside of one of those
    uint32_t profiler_step = kNone;
  };

  static uint32_t Bit(StepFamily family) { return 1U << static_cast<unsigned>(family); }
  trace::ProcessId ProcessOf(uint32_t row) const {
    return trace_.threads[candidates_.thread[row].index()].process;
  }

  void Collect() {
    const trace::Annotations& annotations = trace_.annotations;
    for (size_t i = 0; i < annotations.size(); ++i) {
      if (annotations.is_gpu[i] != 0) continue;
      ParsedStep parsed = ParseStepName(trace_.strings[annotations.name[i]]);
      if (parsed.family == StepFamily::kNone) continue;
      n_out_of_range_ += parsed.fields.n_out_of_range;
      const int64_t start_ns = annotations.start_ns[i];
      const int64_t dur_ns = std::max<int64_t>(annotations.dur_ns[i], 0);
      const trace::ThreadId thread = annotations.thread[i];
      const trace::ProcessId process = trace_.threads[thread.index()].process;
      if (parsed.family == StepFamily::kCapture) {
        captures_.Add(process, start_ns, dur_ns);
        continue;
      }
      if (IsEngine(parsed.family))
        engines_.Add(process, start_ns, base::AddClamped(start_ns, dur_ns));
      candidates_.annotation.push_back(static_cast<uint32_t>(i));
      candidates_.family.push_back(parsed.family);
      candidates_.fields.push_back(parsed.fields);
      candidates_.start_ns.push_back(start_ns);
      candidates_.dur_ns.push_back(dur_ns);
      candidates_.thread.push_back(thread);
    }
    captures_.Freeze();
    engines_.Freeze();
  }

  /// The nearest annotation that holds the whole of a candidate. A candidate that ends before a
  /// later started one can hold nothing that the later one does not, so it leaves the stack:
  /// linear.
  void FindOuters(const LaneOrder& order) {
    outer_.assign(candidates_.size(), kNone);
    const Intervals intervals = candidates_.intervals();
    std::vector<uint32_t> stack;
    for (size_t lane = 0; lane < order.n_lanes(); ++lane) {
      stack.clear();
      for (const uint32_t row : order.rows(lane)) {
        while (!stack.empty() && (intervals.End(stack.back()) < intervals.End(row) ||
                                  intervals.End(stack.back()) <= intervals.Start(row))) {
          stack.pop_back();
        }
        if (!stack.empty()) outer_[row] = stack.back();
        stack.push_back(row);
      }
    }
  }

  void Decide(uint32_t row) {
    const Below seen = IsEngine(candidates_.family[row]) ? DecideEngine(row) : DecideProfiler(row);
    if (outer_[row] == kNone) return;
    Below& outer = below_[outer_[row]];
    outer.n_steps += seen.n_steps;
    if (seen.step != kNone) outer.step = seen.step;
    outer.families |= seen.families;
    outer.n_profiler_steps += seen.n_profiler_steps;
    if (seen.profiler_step != kNone) outer.profiler_step = seen.profiler_step;
  }

  /// Returns what the annotation around this one sees of it.
  Below DecideEngine(uint32_t row) {
    const Below& below = below_[row];
    const StepFamily family = candidates_.family[row];
    Below seen{below.n_steps, below.step, Bit(family), 0, kNone};
    const bool holds_other_family = (below.families & ~Bit(family)) != 0;
    if (holds_other_family) {
      MergeIfOnly(row, below.n_steps, below.step);
      return seen;
    }
    if (below.n_steps == 0 && below.n_profiler_steps == 1) {
      // A ProfilerStep inside of an engine step: the engine's bounds, both names' numbers.
      MergeFields(candidates_.fields[row], candidates_.fields[below.profiler_step]);
      is_step_[below.profiler_step] = 0;
    }
    is_step_[row] = 1;
    ++seen.n_steps;
    seen.step = row;
    return seen;
  }

  Below DecideProfiler(uint32_t row) {
    Below seen = below_[row];
    if (seen.n_steps > 0) {
      MergeIfOnly(row, seen.n_steps, seen.step);
      return seen;
    }
    const int64_t start_ns = candidates_.start_ns[row];
    const int64_t end_ns = candidates_.intervals().End(row);
    const trace::ProcessId process = ProcessOf(row);
    if (engines_.Any(process, start_ns, end_ns) || captures_.AreAllOf(process, start_ns, end_ns)) {
      return seen;
    }
    is_step_[row] = 1;
    ++seen.n_profiler_steps;
    seen.profiler_step = row;
    return seen;
  }

  void MergeIfOnly(uint32_t outer, size_t n_steps, uint32_t step) {
    if (n_steps == 1) MergeFields(candidates_.fields[step], candidates_.fields[outer]);
  }

  std::vector<Step> Steps() const {
    std::vector<Step> steps;
    const trace::Annotations& annotations = trace_.annotations;
    for (uint32_t row = 0; row < candidates_.size(); ++row) {
      if (is_step_[row] == 0) continue;
      const uint32_t i = candidates_.annotation[row];
      steps.push_back({trace::AnnotationId(i), candidates_.family[row], annotations.name[i],
                       annotations.thread[i], annotations.start_ns[i], annotations.dur_ns[i],
                       candidates_.fields[row], 0});
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.start_ns < b.start_ns; });
    return steps;
  }

  const trace::Trace& trace_;
  Candidates candidates_;
  Captures captures_;
  AnnotationsInside engines_;
  std::vector<uint32_t> outer_;   // by candidate
  std::vector<Below> below_;      // by candidate
  std::vector<uint8_t> is_step_;  // by candidate
  int64_t n_out_of_range_ = 0;
};

}  // namespace

StepTable BuildSteps(const trace::Trace& trace, const std::vector<uint8_t>& is_launch) {
  return StepBuilder(trace, is_launch).Build();
}

StepLocator::StepLocator(const trace::Trace& trace, const std::vector<Step>& steps)
    : trace_(trace), empty_(steps.empty()) {
  if (empty_) return;
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<trace::ThreadId> thread;
  std::vector<trace::ProcessId> process;
  for (const Step& step : steps) {
    start_ns.push_back(step.start_ns);
    dur_ns.push_back(step.dur_ns);
    thread.push_back(step.thread);
    process.push_back(trace.threads[step.thread.index()].process);
  }
  const Intervals intervals{start_ns, dur_ns};
  by_thread_ = InnermostIndex(
      LaneOrder::Build(std::span<const trace::ThreadId>(thread), trace.threads.size(), intervals),
      intervals);
  by_process_ = InnermostIndex(LaneOrder::Build(std::span<const trace::ProcessId>(process),
                                                trace.processes.size(), intervals),
                               intervals);
}

StepId StepLocator::Find(trace::ThreadId thread, int64_t t_ns) {
  if (empty_) return {};
  uint32_t step = by_thread_.Find(thread.index(), t_ns);
  if (step == kNoRow) {
    step = by_process_.Find(trace_.threads[thread.index()].process.index(), t_ns);
  }
  return step == kNoRow ? StepId() : StepId(step);
}

}  // namespace layerscope::attribution
