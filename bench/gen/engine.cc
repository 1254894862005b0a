#include "bench/gen/engine.h"

#include "bench/gen/step_scope.h"

namespace layerscope::gen {
namespace {

constexpr std::string_view kHostToDevice = "Memcpy HtoD (Pinned -> Device)";
constexpr std::string_view kDeviceToHost = "Memcpy DtoH (Device -> Pinned)";
constexpr int64_t kFirstSideStream = 20;

}  // namespace

Engine::Engine(const Options& options, Process* process, int args_depth)
    : o_(options),
      p_(*process),
      args_depth_(args_depth),
      main_(process, kMainThread),
      schedule_(options) {
  main_.WaitUntil(o_.start_ns + 150000);
  for (int64_t i = 1; i < o_.threads; ++i) side_.emplace_back(process, kMainThread + 40 + i);
}

const Catalog& Engine::CatalogFor(int64_t tokens, bool decode) {
  auto& catalog = catalogs_[decode ? -tokens : tokens];
  if (catalog == nullptr) catalog = std::make_unique<Catalog>(o_, args_depth_, tokens, decode);
  return *catalog;
}

std::string_view Engine::Keep(std::string text) {
  return names_.emplace_back(std::move(text));
}

int64_t Engine::SideStream(int64_t turn) const {
  return o_.side_streams == 0 ? kMainStream : kFirstSideStream + turn % o_.side_streams;
}

void Engine::RunBefore() {
  if (o_.cpu_only) return;
  RunOrphans();
  for (int64_t i = 0; i < o_.captures; ++i) RunCapture(int64_t{1} << i);
}

// A graph being captured: launching calls between the marks, in an annotation that is no step.
void Engine::RunCapture(int64_t requests) {
  const Catalog& c = CatalogFor(requests, true);
  auto annotation = main_.Annotation(Keep("capture_" + std::to_string(requests) + "_FULL"));
  Forward forward(o_, &main_, kMainStream, SideStream(1));
  main_.Call("cudaStreamBeginCapture", 295);
  main_.StartRecordingGraph();
  forward.Run(c, true);
  for (const GraphNode& node : main_.StopRecordingGraph()) main_.LaunchIntoCapture(*node.kernel);
  main_.Call("cudaStreamEndCapture", 297);
}

void Engine::RunOrphans() {
  if (o_.partial_first == 0) return;
  const Catalog& c = CatalogFor(o_.requests, true);
  const std::vector<const KernelSpec*> layer = {&c.fused_add_rms_norm_kernel,
                                                &c.qkv.gemm,
                                                &c.head_norm_kernel,
                                                &c.head_norm_kernel,
                                                &c.rotary_kernel,
                                                &c.cache_kernel,
                                                &c.flash_kernel,
                                                &c.combine_kernel,
                                                &c.output.gemm,
                                                &c.fused_add_rms_norm_kernel,
                                                &c.gate_up.gemm,
                                                &c.silu_kernel,
                                                &c.down.gemm};
  std::vector<const KernelSpec*> tail = {&c.fused_add_rms_norm_kernel, &c.index_kernel,
                                         &c.lm_head.gemm, &c.to_float_kernel, &c.argmax_kernel};
  while (static_cast<int64_t>(tail.size()) < o_.partial_first)
    tail.insert(tail.begin(), layer.begin(), layer.end());
  tail.erase(tail.begin(), tail.end() - o_.partial_first);
  for (const KernelSpec* kernel : tail) AddOrphan(&p_, *kernel, kMainStream, main_.now_ns());
}

void Engine::RunPass(int64_t pass) {
  pass_ = pass;
  const Batch batch = schedule_.Next(pass);
  const Catalog& catalog = CatalogFor(batch.tokens(), batch.context_requests == 0);
  const StepName name = NameStep(o_.steps, pass, batch);
  main_.Advance(20000, 60000);
  auto loop = main_.Frame("vllm/v1/engine/core.py(724): _process_engine_step");
  auto execute = main_.Frame("vllm/v1/worker/gpu_model_runner.py(2907): execute_model");
  RunOuterAnnotation(name, batch, catalog);
  if (o_.sampler_outside) RunSampler(catalog);
  RunSideThreads(catalog);
  main_.Pad(catalog);
  if (batch.context_requests == 0) ++decodes_;
}

void Engine::RunOuterAnnotation(const StepName& name, const Batch& batch, const Catalog& catalog) {
  if (name.outer.empty()) {
    RunStep(name, batch, catalog);
    return;
  }
  auto outer = main_.Annotation(Keep(name.outer));
  PrepareInputs(batch, catalog);
  RunStep(name, batch, catalog);
}

void Engine::RunStep(const StepName& name, const Batch& batch, const Catalog& catalog) {
  if (name.name.empty()) {
    RunInsideStep(batch, catalog);
    return;
  }
  StepScope step(&p_, &main_, Keep(name.name), name.fields, kMainStream);
  RunInsideStep(batch, catalog);
}

void Engine::RunInsideStep(const Batch& batch, const Catalog& catalog) {
  PrepareInputs(batch, catalog);
  RunSideThreads(catalog);
  RunModel(batch, catalog);
  if (!o_.sampler_outside) RunSampler(catalog);
}

void Engine::PrepareInputs(const Batch& batch, const Catalog& c) {
  auto annotation = InnerAnnotation("gpu_model_runner: preprocess");
  auto frame = main_.Frame("vllm/v1/worker/gpu_model_runner.py(1050): _prepare_inputs");
  for (int64_t i = 0; i < 5; ++i) {
    auto call = main_.Frame("vllm/v1/utils.py(139): copy_to_gpu");
    auto slice = main_.Op(c.slice);
    main_.View(c.as_strided);
    slice.Close();
    auto op = main_.Op(c.copy);
    main_.Copy(kHostToDevice, 8 * batch.tokens() + 4 * i, SideStream(i));
  }
  main_.Call("cudaEventRecord", 135);
  main_.Launch(c.slot_mapping_kernel, kMainStream);  // Triton launches outside of any op
  auto op = main_.Op(c.to);
  main_.Set(4, kMainStream);
  main_.Launch(c.schedule_kernel, kMainStream);
}

bool Engine::UsesGraph(const Batch& batch) const {
  return o_.launch != LaunchMode::kEager && !o_.cpu_only && batch.context_requests == 0 &&
         decodes_ >= o_.eager_decodes;
}

void Engine::RunModel(const Batch& batch, const Catalog& catalog) {
  Forward forward(o_, &main_, kMainStream, SideStream(1));
  {
    auto annotation = InnerAnnotation("gpu_model_runner: forward");
    auto frame = main_.Frame("vllm/v1/worker/gpu_model_runner.py(2726): _model_forward");
    if (UsesGraph(batch)) {
      forward.Replay(catalog, o_.launch == LaunchMode::kPiecewise);
    } else {
      forward.Run(catalog, batch.context_requests == 0);
    }
  }
  auto annotation = InnerAnnotation("gpu_model_runner: postprocess");
  forward.ComputeLogits(catalog);
}

void Engine::RunSampler(const Catalog& catalog) {
  auto annotation = InnerAnnotation("gpu_model_runner: sample");
  auto frame = main_.Frame("vllm/v1/worker/gpu_model_runner.py(2840): sample_tokens");
  Forward(o_, &main_, kMainStream, SideStream(1)).Sample(catalog);
  {
    auto op = main_.Op(catalog.copy);
    main_.Copy(kDeviceToHost, 8 * o_.requests, kMainStream);
  }
  main_.Synchronize("cudaEventSynchronize", 139);
}

// Other threads stage data on streams of their own, partly inside a module scope.
void Engine::RunSideThreads(const Catalog& catalog) {
  for (size_t i = 0; i < side_.size(); ++i) {
    CpuThread& thread = side_[i];
    const int64_t stream = kFirstSideStream + 10 + static_cast<int64_t>(i);
    thread.WaitUntil(main_.now_ns());
    auto frame = thread.Frame("vllm/v1/worker/gpu_worker.py(512): _stage");
    {
      auto op = thread.Op(catalog.copy);
      thread.Copy("Memcpy DtoD (Device -> Device)", 65536, stream);
    }
    {
      auto scope = thread.Module("WeightStager", static_cast<int64_t>(i));
      auto shared = thread.Module("RotaryEmbedding", 0);
      auto op = thread.Op(catalog.rotary);
      thread.Launch(catalog.rotary_kernel, stream);
    }
    thread.Launch(catalog.slot_mapping_kernel, stream);
    frame.Close();
    main_.WaitUntil(thread.now_ns());
  }
}

CpuThread::Scope Engine::InnerAnnotation(std::string_view name) {
  if (!o_.annotations) return CpuThread::Scope(nullptr);
  return main_.Annotation(name);
}

}  // namespace layerscope::gen
