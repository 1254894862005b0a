#include "bench/gen/nsys_rank.h"

#include <algorithm>
#include <string>

namespace layerscope::gen {
namespace {

using Kind = NsysItem::Kind;

constexpr std::string_view kArgMax =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<"
    "float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float>)";
constexpr std::string_view kFill =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long> >(int)";
constexpr int64_t kPromptTokens = 512;

// Vllm: context requests and tokens, then generating ones.
NsysStepName VllmName(const NsysCell& cell) {
  NsysStepName step;
  const std::string n = std::to_string(cell.batch);
  if (cell.prefill) {
    const std::string tokens = std::to_string(cell.batch * kPromptTokens);
    step.name = "execute_context_" + n + "(" + tokens + ")_generation_0(0)";
  } else {
    step.name = "execute_context_0(0)_generation_" + n + "(" + n + ")";
  }
  step.phase = cell.prefill ? "prefill" : "decode";
  step.requests = cell.batch;
  return step;
}

NsysStepName SglangName(const NsysCell& cell) {
  NsysStepName step = VllmName(cell);
  const std::string n = std::to_string(cell.batch);
  step.name = cell.prefill ? "step[EXTEND bs=" + n +
                                 " toks=" + std::to_string(cell.batch * kPromptTokens) + "]"
                           : "step[DECODE bs=" + n + "]";
  return step;
}

// TensorRT-LLM's own number of the step is no index: it counts from when the server started.
NsysStepName TensorRtName(const NsysCell& cell) {
  constexpr int64_t kFirstStep = 311;
  NsysStepName step = VllmName(cell);
  const int64_t context = cell.prefill ? cell.batch : 0;
  step.name = "[Executor] _forward_step " + std::to_string(kFirstStep + cell.number) + ": " +
              std::to_string(context) + " ctx reqs, " + std::to_string(context * kPromptTokens) +
              " ctx tks, " + std::to_string(cell.batch - context) + " gen reqs";
  return step;
}

NsysStepName BenchName(const NsysCell& cell) {
  NsysStepName step;
  step.name = "bench_step::" + std::to_string(cell.number) + "::bs::" + std::to_string(cell.batch) +
              "::past::" + std::to_string(cell.past);
  step.number = cell.number;
  step.requests = cell.batch;
  step.past = cell.past;
  return step;
}

// Where in a forward the gaps of a step are.
struct GapPlaces {
  size_t launch, wait, queued;
};

}  // namespace

NsysItem NsysRank::Item(Kind kind, std::string_view name, std::string_view op, int64_t work_ns) {
  NsysItem item;
  item.kind = kind;
  item.name = names_.Id(name);
  item.op = names_.Id(op);
  item.work_ns = work_ns;
  return item;
}

int64_t NsysRank::GapLength(int64_t asked_ns) {
  const int64_t by_chance_ns = process_.random().Range(2000, 30000) * 2;
  return asked_ns < 0 ? by_chance_ns : asked_ns / 2 * 2;
}

// ---- before the first step

void NsysRank::Prepare() {
  process_.Call("cudaDeviceSynchronize_v3020", 4000);
  if (o_.domains) {
    process_.Open(NsysRange::Kind::kDomain, "ncclCommInitRank", 1);
    process_.Rest(50000);
    process_.Close();
  }
  for (int64_t i = 0; i < o_.orphans; ++i)
    process_.LaunchUnseen(Item(Kind::kKernel, kFill, "aten::fill_", 3000));
  if (o_.launch == NsysOptions::Launch::kEager) return;
  std::vector<int64_t> batches = o_.batches;
  std::sort(batches.rbegin(), batches.rend());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  for (const int64_t batch : batches) Capture(batch);
}

void NsysRank::Capture(int64_t batch) {
  if (o_.capture_thread) process_.set_tid(process_.main_tid() + 2);
  NsysGraph& graph = graphs_.emplace_back();
  graph.batch = batch;
  graph.captured = process_.NextGraph();
  process_.BeginCapture(&graph);
  int64_t to_lose = o_.lost_nodes;
  for (const NsysItem& item : PlanNsysForward(o_, batch, true, &names_, &modules_)) {
    if (item.kind == Kind::kOpen) {
      process_.OpenModule(item.module);
    } else if (item.kind == Kind::kClose) {
      process_.Close();
    } else {
      const bool lost = to_lose > 0 && graph.nodes.size() % 5 == 2;
      to_lose -= lost ? 1 : 0;
      // Nothing of a lost node is there, or a clone that leads nowhere.
      const bool has_row = !lost && o_.launch == NsysOptions::Launch::kNodes;
      process_.LaunchInto(item, lost, has_row);
    }
  }
  process_.EndCapture();
  Instantiate(&graph);
  if (o_.destructions) Destroy(graph);
  process_.set_tid(process_.main_tid());
}

void NsysRank::Instantiate(NsysGraph* graph) {
  graph->executable = graph->captured;
  for (int64_t clone = 0; clone < o_.clones; ++clone) {
    const int64_t from = graph->executable;
    graph->executable = process_.NextGraph();
    const bool last = clone + 1 == o_.clones;
    for (int64_t i = 0; i < (last ? o_.instantiations : 1); ++i) {
      process_.Call(last ? "cudaGraphInstantiateWithFlags_v11040" : "cudaGraphClone_v10000", 30000);
      if (o_.launch != NsysOptions::Launch::kNodes) continue;
      for (size_t node = 0; node < graph->nodes.size(); ++node) {
        if (graph->nodes[node].lost && node % 2 == 0) continue;
        const auto index = static_cast<int64_t>(node);
        process_.AddNode("Graph Node Creation", graph->executable << 32 | index,
                         from << 32 | index);
      }
    }
  }
}

// Rows that tell nothing of where a node was made.
void NsysRank::Destroy(const NsysGraph& graph) {
  process_.OpenModule(modules_.Id("cleanup"));
  process_.Call("cudaGraphDestroy_v10000", 8000);
  for (const NsysGraphNode& node : graph.nodes)
    process_.AddNode("Graph Node Destruction", node.captured, 0);
  process_.Close();
}

// ---- steps

bool NsysRank::UsesGraph(const NsysCell& cell) const {
  return !cell.prefill && o_.launch != NsysOptions::Launch::kEager;
}

void NsysRank::OpenStep(const NsysCell& cell) {
  switch (o_.markers) {
    case NsysOptions::Markers::kNone:
      return;
    case NsysOptions::Markers::kBench:
      return process_.OpenStep({}, BenchName(cell));
    case NsysOptions::Markers::kVllm:
      return process_.OpenStep({}, VllmName(cell));
    case NsysOptions::Markers::kBoth:
      return process_.OpenStep(BenchName(cell), VllmName(cell));
    case NsysOptions::Markers::kSglang:
      return process_.OpenStep({}, SglangName(cell));
    case NsysOptions::Markers::kTensorRt:
      return process_.OpenStep({}, TensorRtName(cell));
  }
}

void NsysRank::PlayEagerly(const NsysCell& cell) {
  const int64_t tokens = cell.prefill ? cell.batch * kPromptTokens : cell.batch;
  const std::vector<NsysItem> plan = PlanNsysForward(o_, tokens, false, &names_, &modules_);
  const auto place = [&] {
    return static_cast<size_t>(process_.random().Range(4, static_cast<int64_t>(plan.size()) - 8));
  };
  GapPlaces at{place(), place(), place()};
  for (size_t i = 0; i < plan.size(); ++i) {
    const NsysItem& item = plan[i];
    if (item.kind == Kind::kOpen) {
      process_.OpenModule(item.module);
    } else if (item.kind == Kind::kClose) {
      if (cell.last && o_.open_ranges && i + 3 > plan.size()) return;
      process_.Close();
    } else {
      // Each waits for an item of its kind; the gap that comes first takes it.
      NsysGap gap;
      const bool plain = item.kind == Kind::kKernel;
      if (plain && i >= at.wait) {
        gap.wait_ns = GapLength(o_.host_wait);
        at.wait = plan.size();
      } else if (plain && i >= at.launch) {
        gap.launch_ns = GapLength(o_.launch_gap);
        at.launch = plan.size();
      } else if (plain && i >= at.queued) {
        gap.queued_ns = GapLength(o_.queued_gap);
        at.queued = plan.size();
      }
      process_.Launch(item, gap);
      if (o_.second_thread && i % 7 == 3)
        process_.LaunchBeside(Item(Kind::kKernel, kFill, "aten::fill_", 1200));
    }
  }
}

void NsysRank::Replay(const NsysCell& cell) {
  const auto graph = std::find_if(graphs_.begin(), graphs_.end(), [&](const NsysGraph& candidate) {
    return candidate.batch == cell.batch;
  });
  if (o_.launch_scope) process_.OpenModule(modules_.Id("runner"));
  NsysGap gap;
  gap.queued_ns = GapLength(o_.queued_gap);
  gap.launch_ns = GapLength(o_.launch_gap);
  process_.LaunchGraph(*graph, gap);
  if (o_.launch_scope && !(cell.last && o_.open_ranges)) process_.Close();
}

void NsysRank::Sample(bool in_module) {
  if (in_module) process_.OpenModule(modules_.Id("sampler"));
  process_.Launch(Item(Kind::kKernel, kArgMax, "aten::argmax", 14000));
  if (in_module) process_.Close();
}

void NsysRank::Step(const NsysCell& cell) {
  OpenStep(cell);
  process_.Launch(Item(Kind::kCopy, "Memcpy HtoD", "aten::copy_", 2200));
  if (UsesGraph(cell)) {
    Replay(cell);
  } else {
    PlayEagerly(cell);
  }
  // A cut step leaves a module open, which the sampler is no part of.
  const bool cut = cell.last && o_.open_ranges;
  Sample(!o_.sampler_outside && !cut);
  if (!cut && o_.markers != NsysOptions::Markers::kNone) process_.CloseStep();
  if (!cut) process_.Launch(Item(Kind::kCopy, "Memcpy DtoH", "aten::copy_", 1800));
  if (!o_.run_ahead || cell.number % 4 == 3 || cell.last)
    process_.Synchronize(process_.random().Range(1500, 4000) * 2 + 1);
  process_.Rest(process_.random().Range(20000, 90000));
}

}  // namespace layerscope::gen
