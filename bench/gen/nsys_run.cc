#include "bench/gen/nsys_run.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "bench/gen/nsys_database.h"
#include "bench/gen/nsys_kineto.h"
#include "bench/gen/nsys_rank.h"
#include "bench/gen/replay_trace.h"

namespace layerscope::gen {
namespace {

class Run {
 public:
  explicit Run(const NsysOptions& options) : o_(options) {
    truth_.ranks.resize(static_cast<size_t>(options.ranks));
    for (NsysRankTruth& rank : truth_.ranks) rank.detailed = !options.truth.empty();
    for (int64_t rank = 0; rank < options.ranks; ++rank)
      ranks_.emplace_back(options, &names_, &modules_, rank, &truth_);
  }

  bool Write(std::string* error) {
    if (!o_.output.empty() && !database_.Open(o_, names_, error)) return false;
    if (!o_.kineto.empty()) kineto_ = std::make_unique<NsysKineto>(o_, names_, modules_);
    for (NsysRank& rank : ranks_) rank.Prepare();
    Flush();
    Sweep();
    End();
    if (!o_.output.empty() && !database_.Finish(truth_, error)) return false;
    if (kineto_ != nullptr && !kineto_->Finish(truth_, error)) return false;
    if (o_.truth.empty()) return true;
    if (WriteTextFile(o_.truth, RenderNsysTruth(o_, names_, modules_, truth_))) return true;
    *error = "cannot write " + o_.truth;
    return false;
  }

 private:
  int64_t Kernels() const {
    int64_t n = 0;
    for (const NsysRankTruth& rank : truth_.ranks)
      n += rank.kinds[static_cast<size_t>(NsysKind::kKernel)].kernels;
    return n;
  }

  std::vector<NsysCell> Cells() const {
    std::vector<NsysCell> cells;
    for (const int64_t batch : o_.batches) {
      for (const int64_t past : o_.pasts) {
        if (o_.prefill) cells.push_back({0, batch, past, true, false});
        for (int64_t i = 0; i < o_.steps; ++i) cells.push_back({0, batch, past + i, false, false});
      }
    }
    return cells;
  }

  void Sweep() {
    const std::vector<NsysCell> cells = Cells();
    for (int64_t round = 0;; ++round) {
      const bool last = o_.kernels > 0 ? Kernels() >= o_.kernels : round + 1 >= o_.repeat;
      for (size_t i = 0; i < cells.size(); ++i) {
        NsysCell cell = cells[i];
        cell.number = next_step_++;
        cell.last = last && i + 1 == cells.size();
        for (NsysRank& rank : ranks_) rank.Step(cell);
        if (!cell.last) Flush();
      }
      if (last) return;
    }
  }

  // The last step's ranges may be open: what the profiler saw last ends them.
  void End() {
    int64_t end_ns = 0;
    for (const NsysRankTruth& rank : truth_.ranks) end_ns = std::max(end_ns, rank.last_ns);
    for (NsysRank& rank : ranks_) rank.process().EndRecording(end_ns);
    Flush();
  }

  void Flush() {
    std::vector<NsysRowsOf> all;
    for (NsysRank& rank : ranks_) all.push_back({rank.process().place(), &rank.process().rows()});
    if (!o_.output.empty()) database_.Write(all);
    if (kineto_ != nullptr) kineto_->Add(all);
    for (NsysRank& rank : ranks_) rank.process().rows().clear();
  }

  const NsysOptions& o_;
  NsysNames names_;
  NsysModules modules_;
  NsysTruth truth_;
  std::deque<NsysRank> ranks_;
  NsysDatabase database_;
  std::unique_ptr<NsysKineto> kineto_;
  int64_t next_step_ = 0;
};

}  // namespace

bool WriteNsysRun(const NsysOptions& options, std::string* error) {
  return Run(options).Write(error);
}

}  // namespace layerscope::gen
