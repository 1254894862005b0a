#pragma once
// A serving loop: schedules batches, runs passes through the model, and annotates steps.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/gen/catalog.h"
#include "bench/gen/cpu_thread.h"
#include "bench/gen/forward.h"
#include "bench/gen/options.h"
#include "bench/gen/step_names.h"

namespace layerscope::gen {

inline constexpr int64_t kMainStream = 7;
inline constexpr int64_t kMainThread = 6583;

class Engine {
 public:
  Engine(const Options& options, Process* process, int args_depth);

  // What precedes the first pass: kernels launched before the window, and graph captures.
  void RunBefore();
  // One pass; its events stand in the process's recording.
  void RunPass(int64_t pass);
  // Nothing that is still to come starts earlier.
  int64_t now_ns() const { return main_.now_ns(); }

 private:
  void RunOrphans();
  void RunCapture(int64_t requests);
  const Catalog& CatalogFor(int64_t tokens, bool decode);
  int64_t SideStream(int64_t turn) const;
  bool UsesGraph(const Batch& batch) const;
  void RunOuterAnnotation(const StepName& name, const Batch& batch, const Catalog& catalog);
  void RunStep(const StepName& name, const Batch& batch, const Catalog& catalog);
  void RunInsideStep(const Batch& batch, const Catalog& catalog);
  void PrepareInputs(const Batch& batch, const Catalog& catalog);
  void RunModel(const Batch& batch, const Catalog& catalog);
  void RunSampler(const Catalog& catalog);
  void RunSideThreads(const Catalog& catalog);
  CpuThread::Scope InnerAnnotation(std::string_view name);
  std::string_view Keep(std::string text);

  const Options& o_;
  Process& p_;
  int args_depth_;
  CpuThread main_;
  BatchSchedule schedule_;
  std::deque<CpuThread> side_;
  std::map<int64_t, std::unique_ptr<Catalog>> catalogs_;
  std::deque<std::string> names_;
  int64_t pass_ = 0;
  int64_t decodes_ = 0;
};

}  // namespace layerscope::gen
