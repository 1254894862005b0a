#include "bench/gen/replay_run.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "bench/gen/replay_capture.h"
#include "bench/gen/replay_documents.h"

namespace layerscope::gen {
namespace {

constexpr int64_t kCapturedAt = 4909733314000000;
constexpr int64_t kServedAt = 4909914216000000;
constexpr std::string_view kPrepare =
    "void (anonymous namespace)::clamp_position_kernel<long>(long*, long const*, unsigned long)";
constexpr std::string_view kArgMax =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<"
    "float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float>)";

std::string DecodeStep(const ReplayOptions& options, int64_t requests) {
  const std::string n = std::to_string(requests);
  const std::string keys = std::to_string(requests * 1024);
  if (options.steps == ReplayOptions::Steps::kSglang) return "step[DECODE bs=" + n + "]";
  return "execute_" + n + "_context_0(sq0sk0sqsq0sqsk0)_generation_" + n + "(sq" + n + "sk" + keys +
         "sqsq" + n + "sqsk" + keys + ")";
}

// One rank of the run: its process captures, then serves.
class RankRun {
 public:
  RankRun(const ReplayOptions& options, int64_t rank)
      : o_(options), rank_(rank), name_("rank" + std::to_string(rank)) {}

  void Capture();
  void Serve();
  void RunEagerly();
  bool Write(std::string* error);

 private:
  void CaptureOne(Host* host, int64_t batch, bool draft);
  void Replay(Host* host, size_t graph, int64_t requests, int64_t pass);
  void Step(Host* host, int64_t pass);
  void Prepare(Host* host);
  void Sample(Host* host);
  size_t GraphFor(int64_t requests, bool draft) const;
  std::string CaptureFile(int64_t batch) const;
  bool WriteFiles();

  const ReplayOptions& o_;
  int64_t rank_;
  std::string name_;
  ModuleNumbers numbers_, eager_numbers_;
  std::vector<std::pair<std::string, Host>> captures_;
  std::vector<CapturedGraph> graphs_;
  std::vector<ReplayedGraph> replayed_;
  std::vector<Host> served_, eager_;
};

std::string RankRun::CaptureFile(int64_t batch) const {
  if (o_.one_capture_file) return "graph_capture_rank_" + std::to_string(rank_) + ".json";
  return "bs_" + std::to_string(batch) + "_" + name_ + ".json";
}

void RankRun::CaptureOne(Host* host, int64_t batch, bool draft) {
  const bool piecewise = o_.launch == ReplayOptions::Launch::kPiecewise;
  CapturedGraph graph;
  graph.batch = batch;
  graph.plan = draft ? PlanDraft(o_, batch) : PlanForward(o_, batch);
  graph.mode = draft                                       ? "DRAFT_DECODE"
               : o_.steps == ReplayOptions::Steps::kSglang ? "DECODE"
               : piecewise                                 ? "PIECEWISE"
                                                           : "FULL";
  graph.index = static_cast<int64_t>(graphs_.size());
  host->OpenAnnotation("capture_" + std::to_string(batch) + "_" + graph.mode);
  host->OpenFrame("torch/cuda/graphs.py(265): __enter__");
  host->OpenOp("aten::fill_");
  host->Launch("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long> >",
               1500);
  host->Close();
  PlayIntoCapture(o_, host, &graph);
  host->Close();
  host->Close();
  ReplayedGraph& truth = replayed_.emplace_back();
  truth.batch = batch;
  truth.capture = CaptureFile(batch);
  truth.mode = graph.mode;
  truth.pieces = static_cast<int64_t>(graph.pieces.size());
  truth.nodes = graph.kernels();
  graphs_.push_back(std::move(graph));
}

// Engines capture the largest size first.
void RankRun::Capture() {
  std::vector<int64_t> batches = o_.batches;
  std::sort(batches.rbegin(), batches.rend());
  for (const int64_t batch : batches) {
    if (captures_.empty() || !o_.one_capture_file) {
      const auto start_ns = kCapturedAt + static_cast<int64_t>(captures_.size()) * 1000000000;
      captures_.emplace_back(CaptureFile(batch), Host(o_, &numbers_, rank_, start_ns, o_.seed));
    }
    Host& host = captures_.back().second;
    if (o_.capture_thread) host.set_thread(9001 + rank_);
    CaptureOne(&host, batch, false);
    if (o_.draft != ReplayOptions::Draft::kNone) CaptureOne(&host, batch, true);
  }
}

size_t RankRun::GraphFor(int64_t requests, bool draft) const {
  size_t best = graphs_.size();
  for (size_t i = 0; i < graphs_.size(); ++i) {
    const CapturedGraph& graph = graphs_[i];
    if ((graph.mode == "DRAFT_DECODE") != draft || graph.batch < requests) continue;
    if (best == graphs_.size() || graph.batch < graphs_[best].batch) best = i;
  }
  return best;
}

void RankRun::Replay(Host* host, size_t index, int64_t requests, int64_t pass) {
  const CapturedGraph& graph = graphs_[index];
  ReplayedGraph& truth = replayed_[index];
  const bool model = o_.scope == ReplayOptions::Scope::kModel;
  if (model) host->OpenModule(graph.plan.front().text, graph.plan.front().path);
  const std::vector<CapturedPiece> pieces = Distorted(o_, graph, pass);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pass == 0 && i > 0 && static_cast<int64_t>(i) == o_.skip_pieces) {
      host->ForgetAll();
      truth.launches = 0;
    }
    if (o_.scope == ReplayOptions::Scope::kWrapper) host->OpenModule("CUDAGraphWrapper", "?");
    host->LaunchGraph(pieces[i].nodes, static_cast<int64_t>(index));
    if (o_.scope == ReplayOptions::Scope::kWrapper) host->Close();
    PlayPart(host, graph.plan, pieces[i].eager_begin, pieces[i].eager_end);
    ++truth.launches;
  }
  if (model) host->Close();
  if (std::find(truth.served.begin(), truth.served.end(), requests) == truth.served.end())
    truth.served.push_back(requests);
}

void RankRun::Prepare(Host* host) {
  host->OpenOp("aten::copy_");
  host->Copy("Memcpy HtoD (Host -> Device)", 2100);
  host->Close();
  host->OpenOp("aten::clamp_");
  host->Launch(std::string(kPrepare), 2600);
  host->Close();
}

void RankRun::Sample(Host* host) {
  host->OpenModule("Sampler", "?");
  host->OpenOp("aten::argmax");
  host->Launch(std::string(kArgMax), 14000);
  host->Close();
  host->Close();
  host->OpenOp("aten::copy_");
  host->Copy("Memcpy DtoH (Device -> Host)", 1800);
  host->Close();
}

void RankRun::Step(Host* host, int64_t pass) {
  const int64_t requests = o_.serve[static_cast<size_t>(pass) % o_.serve.size()];
  const std::string n = std::to_string(requests);
  const bool named = o_.steps != ReplayOptions::Steps::kNone;
  const bool two = o_.draft == ReplayOptions::Draft::kTwoSteps && named;
  if (two) {
    host->OpenAnnotation("step[DRAFT_DECODE bs=" + n + "]");
    Replay(host, GraphFor(requests, true), requests, pass);
    host->Close();
  }
  if (named)
    host->OpenAnnotation(two ? "step[TARGET_VERIFY bs=" + n + " toks=" + n + "]"
                             : DecodeStep(o_, requests));
  Prepare(host);
  if (o_.draft != ReplayOptions::Draft::kNone && !two)
    Replay(host, GraphFor(requests, true), requests, pass);
  Replay(host, GraphFor(requests, false), requests, pass);
  if (named) host->Close();
  Sample(host);
  host->ReadyAgain(300000);
}

void RankRun::Serve() {
  Host& host = served_.emplace_back(o_, &numbers_, rank_, kServedAt,
                                    o_.seed + 77 + static_cast<uint64_t>(rank_));
  for (int64_t pass = 0; pass < o_.passes; ++pass) {
    host.set_pass(pass);
    Step(&host, pass);
  }
  for (const ReplayActivity& activity : host.truth().activities) {
    if (activity.graph < 0 || activity.kind != "kernel") continue;
    ++replayed_[static_cast<size_t>(activity.graph)].replayed;
  }
  host.truth().graphs = replayed_;
}

// The same model in another process, every kernel launched by itself.
void RankRun::RunEagerly() {
  const int64_t batch = o_.eager_batch > 0 ? o_.eager_batch : o_.batches.front();
  Host& host = eager_.emplace_back(o_, &eager_numbers_, rank_, kServedAt + 77000000, o_.seed + 5);
  for (int64_t pass = 0; pass < 2; ++pass) {
    host.set_pass(pass);
    const bool named = o_.steps != ReplayOptions::Steps::kNone;
    if (named) host.OpenAnnotation(DecodeStep(o_, batch));
    Prepare(&host);
    PlayEagerly(o_, &host, PlanForward(o_, batch));
    if (named) host.Close();
    Sample(&host);
    host.ReadyAgain(300000);
  }
}

bool RankRun::WriteFiles() {
  const std::string& out = o_.output;
  bool done = true;
  for (const auto& [file, host] : captures_)
    done &= WriteTraceFile(out + "/capture_traces/" + file, host.header(), host.events());
  const std::string trace = name_ + ".pt.trace.json";
  done &= WriteTraceFile(out + "/run/" + trace, served_[0].header(), served_[0].events());
  done &= WriteTraceFile(out + "/eager/" + trace, eager_[0].header(), eager_[0].events());
  done &= WriteTextFile(out + "/annotations/graph_annotations_" + name_ + ".json",
                        RenderGraphAnnotations(graphs_));
  if (rank_ == 0) {
    done &= WriteTextFile(out + "/model_tree.json", RenderModelTree(numbers_)) &&
            WriteTextFile(out + "/config.json", RenderModelConfig(o_));
  }
  if (!o_.truth) return done;
  done &=
      WriteTextFile(out + "/truth/run_" + name_ + ".json", RenderReplayTruth(served_[0].truth()));
  done &=
      WriteTextFile(out + "/truth/eager_" + name_ + ".json", RenderReplayTruth(eager_[0].truth()));
  return done;
}

bool RankRun::Write(std::string* error) {
  if (WriteFiles()) return true;
  *error = "cannot write below " + o_.output;
  return false;
}

}  // namespace

bool WriteReplayRun(const ReplayOptions& options, std::string* error) {
  for (const char* folder : {"capture_traces", "run", "eager", "annotations", "truth"}) {
    std::error_code failure;
    std::filesystem::create_directories(std::filesystem::path(options.output) / folder, failure);
    if (!failure) continue;
    *error = "cannot make " + options.output + ": " + failure.message();
    return false;
  }
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    RankRun run(options, rank);
    run.Capture();
    run.Serve();
    run.RunEagerly();
    if (!run.Write(error)) return false;
  }
  return true;
}

}  // namespace layerscope::gen
