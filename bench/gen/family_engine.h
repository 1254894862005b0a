#pragma once
// A serving loop over a model of any family: like Engine, but the model is a table, and the trace
// may have any of the oddities that make layers hard to find.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/gen/cpu_thread.h"
#include "bench/gen/options.h"
#include "bench/gen/pass_plan.h"
#include "bench/gen/step_names.h"

namespace layerscope::gen {

class FamilyEngine {
 public:
  FamilyEngine(const Options& options, Process* process, int args_depth, Origin origin = {});

  // Work that was launched before the window.
  void RunBefore();
  // One pass, or a draft and its verification.
  void RunPass(int64_t pass);
  int64_t now_ns() const { return main_.now_ns(); }

 private:
  bool Steps() const { return o_.steps != StepNaming::kNone && !p_.unseen; }
  bool UsesGraph(const Batch& batch) const;
  std::string_view Kind(const Batch& batch) const;

  void RunStep(const StepName& name, const Batch& batch, const PassPlan& whole,
               std::string_view kind);
  void RunInside(const Batch& batch, const PassPlan& plan);
  void RunMicroBatches(const Batch& batch, int64_t pass);
  void RunForeign();
  void Prepare(const Batch& batch);
  void Sample(int32_t pass);
  void Rest();

  // Opens the pass's truth and puts its index on every row.
  void OpenPass(const PassPlan& whole, PassPlan* plan, std::string_view kind, int64_t batch,
                const std::string& note, bool cut);
  void Play(const PassPlan& plan, size_t begin, size_t end);
  void PlayBlock(const PassPlan& plan, size_t begin, size_t end);
  void PlayGraph(const PassPlan& plan);
  void LaunchRow(const PlannedRow& planned);
  void LaunchPiece();

  const KernelSpec& Spec(const Row& row, int64_t percent);
  std::string DisplayName(const Row& row);
  std::string_view Keep(std::string text) { return names_.emplace_back(std::move(text)); }

  const Options& o_;
  Process& p_;
  int args_depth_;
  Origin origin_;
  CpuThread main_, side_;
  PassPlanner planner_;
  BatchSchedule schedule_;
  std::map<std::pair<const Row*, int64_t>, std::unique_ptr<KernelSpec>> specs_;
  std::map<std::string_view, int64_t> neutral_numbers_;
  std::map<const Row*, int64_t> inductor_numbers_;
  std::deque<std::string> names_;
  std::unique_ptr<FamilyEngine> twin_;
  Place outside_;  // of what stands before the rows of the current pass
  int64_t decodes_ = 0;
  int64_t pass_ = 0;
};

}  // namespace layerscope::gen
