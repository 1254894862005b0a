#include "bench/gen/family_engine.h"

#include <algorithm>
#include <vector>

#include "bench/gen/family_names.h"
#include "bench/gen/json_text.h"
#include "bench/gen/kernel_names.h"
#include "bench/gen/step_scope.h"

namespace layerscope::gen {
namespace {

constexpr int64_t kStream = 7;
constexpr int64_t kSecondStream = 22;
constexpr int64_t kSideStream = 20;
constexpr int64_t kForeignStream = 30;
constexpr int64_t kThread = 6583;
constexpr std::string_view kHostToDevice = "Memcpy HtoD (Pinned -> Device)";
constexpr std::string_view kDeviceToHost = "Memcpy DtoH (Device -> Pinned)";
constexpr std::string_view kDeviceToDevice = "Memcpy DtoD (Device -> Device)";

constexpr Row kPrepare[] = {{"_compute_slot_mapping_kernel", 20}, {kFlashSchedule, 21}};
constexpr Row kSample[] = {{kToFloat, 60, Work::kSampler}, {kArgMax, 110, Work::kSampler}};
constexpr Row kForeignRow = {"_offload_kv_blocks_kernel", 60};

const OpSpec& OpOf(Work work) {
  static const OpSpec norm{"_C::fused_add_rms_norm", ""};
  static const OpSpec gemm{"aten::mm", ""};
  static const OpSpec mixer{"vllm::unified_attention_with_output", ""};
  static const OpSpec experts{"vllm::moe_forward", ""};
  static const OpSpec reduce{"vllm::all_reduce", ""};
  static const OpSpec other{"aten::copy_", ""};
  switch (work) {
    case Work::kNorm:
      return norm;
    case Work::kGemm:
      return gemm;
    case Work::kMixer:
    case Work::kCache:
      return mixer;
    case Work::kFfn:
      return experts;
    case Work::kReduce:
      return reduce;
    default:
      return other;
  }
}

bool Hides(Hidden hidden, Work work) {
  switch (hidden) {
    case Hidden::kNothing:
      return false;
    case Hidden::kNorm:
      return work == Work::kNorm;
    case Hidden::kMixer:
      return work == Work::kMixer;
    case Hidden::kGemm:
      return work == Work::kGemm;
    case Hidden::kFfn:
      return work == Work::kFfn;
  }
  return false;
}

bool IsActivation(const Row& row) {
  return row.name.find("act_and_mul") != std::string_view::npos;
}

int64_t SideStreamOf(const Options& options) {
  const bool one = options.ambiguous == Ambiguity::kLongcatOneStream;
  const bool used =
      options.side_streams > 0 || options.comm_stream || ChosenFamily(options).side_stream;
  return used && !one ? kSideStream : kStream;
}

}  // namespace

FamilyEngine::FamilyEngine(const Options& options, Process* process, int args_depth, Origin origin)
    : o_(options),
      p_(*process),
      args_depth_(args_depth),
      origin_(origin),
      main_(process, kThread, origin),
      side_(process, kThread + 40, origin),
      planner_(options, kStream, SideStreamOf(options)),
      schedule_(options) {
  main_.WaitUntil(o_.start_ns + 150000);
  p_.unseen = o_.gpu_only;
  if (o_.together == Together::kNone || origin.device + origin.process > 0) return;
  const Origin other{o_.together != Together::kProcesses, o_.together != Together::kDevices};
  twin_ = std::make_unique<FamilyEngine>(options, process, args_depth, other);
}

// ---- names and times

std::string FamilyEngine::DisplayName(const Row& row) {
  if (Hides(o_.neutral, row.work)) {
    const auto next = static_cast<int64_t>(neutral_numbers_.size());
    const auto [found, added] = neutral_numbers_.try_emplace(row.name, next);
    return "kernel_" + std::to_string(found->second);
  }
  if (!o_.inductor || (row.work != Work::kNorm && !IsActivation(row))) return std::string(row.name);
  const auto next = static_cast<int64_t>(inductor_numbers_.size());
  const auto [found, added] = inductor_numbers_.try_emplace(&row, next);
  const std::string ops = row.work != Work::kNorm ? "poi_fused_mul_silu_slice"
                          : (row.flags & kFirstLayer) != 0
                              ? "red_fused__to_copy_mean_mul_pow_rsqrt"
                              : "red_fused__to_copy_add_mean_mul_pow_rsqrt";
  return "triton_" + ops + "_" + std::to_string(found->second);
}

const KernelSpec& FamilyEngine::Spec(const Row& row, int64_t percent) {
  auto& spec = specs_[{&row, percent}];
  if (spec != nullptr) return *spec;
  spec = std::make_unique<KernelSpec>();
  spec->name = DisplayName(row);
  JsonText json(&spec->geometry, o_.layout, args_depth_);
  json.Key("grid").Array().Int(132).Int(1).Int(1).EndArray();
  json.Key("block").Array().Int(256).Int(1).Int(1).EndArray();
  spec->geometry.erase(0, std::min(spec->geometry.size(), spec->geometry.find_first_not_of(" \n")));
  spec->work_ns = row.tenths_us * percent;
  const bool compiled = spec->name.front() == '_' || spec->name.find("triton") == 0;
  spec->call = compiled                  ? CallKind::kDriverLaunchKernel
               : row.work == Work::kGemm ? CallKind::kDriverLaunchKernelEx
                                         : CallKind::kLaunchKernel;
  spec->dependent = row.work == Work::kGemm || row.work == Work::kNorm;
  return *spec;
}

// ---- playing a plan

void FamilyEngine::LaunchRow(const PlannedRow& planned) {
  const KernelSpec& spec = Spec(*planned.row, planned.percent);
  p_.place = planned.place;
  if (spec.call == CallKind::kDriverLaunchKernel) {  // Triton launches outside of any op
    main_.Launch(spec, planned.stream);
    return;
  }
  auto op = main_.Op(OpOf(planned.row->work));
  main_.Launch(spec, planned.stream);
}

void FamilyEngine::PlayBlock(const PassPlan& plan, size_t begin, size_t end) {
  const Family& family = planner_.family();
  const bool mixer = plan[begin].scope_block % 2 == 0;
  for (size_t i = begin; i < end;) {
    const bool norm = plan[i].row->work == Work::kNorm;
    const std::string_view name = norm ? "RMSNorm" : mixer ? family.mixer_class : family.ffn_class;
    const int64_t instance = plan[i].scope_layer * 8 + plan[i].scope_block;
    auto scope = main_.Module(std::string(name), instance);
    for (; i < end && (plan[i].row->work == Work::kNorm) == norm; ++i) LaunchRow(plan[i]);
  }
}

void FamilyEngine::Play(const PassPlan& plan, size_t begin, size_t end) {
  const bool copies = o_.layer_copies && !main_.recording_graph();
  for (size_t i = begin; i < end;) {
    const PlannedRow first = plan[i];
    if (first.scope_layer < 0) {
      LaunchRow(plan[i++]);
      continue;
    }
    auto layer = main_.Module(std::string(planner_.family().layer_class), first.scope_layer);
    while (i < end && plan[i].scope_layer == first.scope_layer) {
      const size_t from = i;
      while (i < end && plan[i].scope_layer == first.scope_layer &&
             plan[i].scope_block == plan[from].scope_block)
        ++i;
      PlayBlock(plan, from, i);
      if (copies && first.scope_layer % 4 == 0 && plan[from].scope_block == 0 && i < end)
        main_.Copy(kDeviceToDevice, 65536, kStream);
    }
  }
}

void FamilyEngine::LaunchPiece() {
  const std::vector<GraphNode> nodes = main_.StopRecordingGraph();
  if (nodes.empty()) return;
  if (!o_.graph_in_scope) {
    main_.LaunchGraph(nodes);
    return;
  }
  auto scope = main_.Module("CUDAGraphWrapper", 0);
  main_.LaunchGraph(nodes);
}

// One launch, or pieces between attentions that run eagerly.
void FamilyEngine::PlayGraph(const PassPlan& plan) {
  const bool piecewise = o_.launch == LaunchMode::kPiecewise;
  main_.StartRecordingGraph();
  for (size_t i = 0; i < plan.size();) {
    const auto eager = [&](size_t at) {
      const Row& row = *plan[at].row;
      const bool mixes = row.work == Work::kMixer || row.work == Work::kCache;
      return (piecewise && mixes) || (Steps() && (row.flags & kOutsideGraph) != 0);
    };
    size_t end = i;
    while (end < plan.size() && eager(end) == eager(i)) ++end;
    if (eager(i)) {
      LaunchPiece();
      for (; i < end; ++i) LaunchRow(plan[i]);
      main_.StartRecordingGraph();
      continue;
    }
    Play(plan, i, end);
    i = end;
  }
  LaunchPiece();
}

// ---- passes

void FamilyEngine::OpenPass(const PassPlan& whole, PassPlan* plan, std::string_view kind,
                            int64_t batch, const std::string& note, bool cut) {
  const bool known = o_.steps != StepNaming::kNone && o_.steps != StepNaming::kProfiler;
  PassTruth pass = planner_.Describe(whole, plan, kind == "draft");
  pass.kind = known && !p_.unseen ? kind : "unknown";
  pass.batch = known && !p_.unseen ? batch : -1;
  pass.note = note;
  if (cut) pass.complete = false;
  const bool first = origin_.device + origin_.process == 0;
  const int32_t index = first ? p_.structure.OpenPass(std::move(pass)) : -1;
  for (PlannedRow& row : *plan) row.place.pass = index;
  outside_ = {};
  outside_.pass = index;
}

bool FamilyEngine::UsesGraph(const Batch& batch) const {
  return o_.launch != LaunchMode::kEager && batch.context_requests == 0 &&
         decodes_ >= o_.eager_decodes;
}

std::string_view FamilyEngine::Kind(const Batch& batch) const {
  if (batch.context_requests == 0) return "decode";
  return batch.generation_requests == 0 ? "prefill" : "mixed";
}

void FamilyEngine::RunBefore() {
  if (o_.partial_first > 0) {
    const bool before = p_.unseen;
    p_.unseen = true;
    const PassPlan whole = planner_.Whole(true, false, kStream);
    PassPlan plan = whole;
    const auto kept = std::min(whole.size(), static_cast<size_t>(o_.partial_first));
    plan.erase(plan.begin(), plan.end() - static_cast<int64_t>(kept));
    OpenPass(whole, &plan, "unknown", -1, "began before the window", true);
    Play(plan, 0, plan.size());
    p_.unseen = before;
    Rest();
  }
  if (twin_ != nullptr) twin_->RunBefore();
}

// The GPU runs dry between passes; the gap is longer than any within.
void FamilyEngine::Rest() {
  main_.WaitUntil(p_.gpu.IdleAt());
  main_.Advance(400000, 600000);
}

// Work of another thread that was launched before the step and runs while the step does.
void FamilyEngine::RunForeign() {
  if (o_.foreign == 0) return;
  side_.WaitUntil(main_.now_ns());
  for (int64_t i = 0; i < o_.foreign; ++i) {
    p_.place = {};
    p_.place.lane = Lane::kForeign;
    p_.place.not_before_ns = side_.now_ns() + 300000 + 230000 * i;
    side_.Launch(Spec(kForeignRow, 100), kForeignStream);
  }
  main_.WaitUntil(side_.now_ns());
}

void FamilyEngine::RunPass(int64_t pass) {
  pass_ = pass;
  const Batch batch = schedule_.Next(pass);
  const bool decode = batch.context_requests == 0;
  Rest();
  RunForeign();
  const bool speculative = o_.draft && decode;
  if (o_.micro_batches) {
    RunMicroBatches(batch, pass);
  } else {
    if (speculative) {
      RunStep(NameDraftStep(batch), batch, planner_.Draft(), "draft");
      Rest();
    }
    const StepName name = speculative ? NameVerifyStep(batch) : NameStep(o_.steps, pass, batch);
    RunStep(name, batch, planner_.Whole(decode, decode && decodes_ < o_.cold, kStream),
            speculative ? "target_verify" : Kind(batch));
  }
  if (decode) ++decodes_;
  if (twin_ == nullptr) return;
  twin_->main_.WaitUntil(main_.now_ns());
  twin_->RunPass(pass);
  main_.WaitUntil(twin_->main_.now_ns());
}

void FamilyEngine::RunStep(const StepName& name, const Batch& batch, const PassPlan& whole,
                           std::string_view kind) {
  PassPlan plan = whole;
  const bool last = pass_ == o_.passes - 1;
  const bool cut = last && o_.partial_last > 0 && kind != "draft";
  if (cut) plan.resize(std::min(plan.size(), static_cast<size_t>(o_.partial_last)));
  OpenPass(whole, &plan, kind, batch.requests(), cut ? "cut by the end of the window" : "", cut);
  const int32_t index = outside_.pass;
  if (o_.residue != 0 && pass_ == o_.passes / 2 && kind != "draft") planner_.AddResidue(&plan);
  if (!Steps()) {
    RunInside(batch, plan);
    if (!UsesGraph(batch) && !cut) Sample(index);
    return;
  }
  {
    StepScope step(&p_, &main_, Keep(name.name), name.fields, kStream, origin_);
    RunInside(batch, plan);
    if (!o_.sampler_outside && !cut) Sample(index);
  }
  if (o_.sampler_outside && !cut) Sample(-1);
}

void FamilyEngine::RunInside(const Batch& batch, const PassPlan& plan) {
  const bool graph = UsesGraph(batch);
  if (!graph || Steps()) Prepare(batch);
  auto model = main_.Module(std::string(planner_.family().model_class), 0);
  if (graph) {
    PlayGraph(plan);
  } else {
    Play(plan, 0, plan.size());
  }
}

void FamilyEngine::RunMicroBatches(const Batch& batch, int64_t pass) {
  const bool decode = batch.context_requests == 0;
  const StepName name = NameStep(o_.steps, pass, batch);
  PassPlan second_whole = planner_.Whole(decode, false, kSecondStream);
  PassPlan second = second_whole;
  PassPlan whole = planner_.Whole(decode, false, kStream);
  PassPlan first = whole;
  // The logits of both are computed together.
  while ((second.back().row->flags & kOutsideGraph) != 0) second.pop_back();
  OpenPass(whole, &first, Kind(batch), batch.requests(), "micro-batch 1 of 2", false);
  const Place prepare = outside_;
  OpenPass(second_whole, &second, Kind(batch), batch.requests(), "micro-batch 2 of 2", false);
  outside_ = prepare;
  {
    StepScope step(&p_, &main_, Keep(name.name), name.fields, kStream, origin_);
    RunInside(batch, PassPlanner::Interleave(first, second));
  }
  Sample(-1);
}

// ---- around the model

void FamilyEngine::Prepare(const Batch& batch) {
  Place place;
  place.pass = outside_.pass;
  place.part = Part::kHead;
  p_.place = place;
  main_.Launch(Spec(kPrepare[0], 100), kStream);
  {
    auto op = main_.Op(OpOf(Work::kOther));
    main_.Copy(kHostToDevice, 8 * batch.tokens(), kStream);
  }
  main_.Set(4, kStream);
  main_.Launch(Spec(kPrepare[1], 100), kStream);
}

// `pass` < 0: outside every pass.
void FamilyEngine::Sample(int32_t pass) {
  p_.place = {};
  p_.place.pass = pass;
  if (pass >= 0) p_.place.part = Part::kTail;
  {
    auto sampler = main_.Module("Sampler", 0);
    for (const Row& row : kSample) {
      auto op = main_.Op(OpOf(row.work));
      main_.Launch(Spec(row, 100), kStream);
    }
  }
  if (pass >= 0 || !Steps()) return;
  auto op = main_.Op(OpOf(Work::kOther));
  main_.Copy(kDeviceToHost, 8 * o_.requests, kStream);
}

}  // namespace layerscope::gen
