#include "bench/gen/nsys_process.h"

#include <algorithm>

namespace layerscope::gen {
namespace {

constexpr int64_t kFirstPid = 4242;

bool IsLaunch(std::string_view name) {
  return name.find("Launch") != std::string_view::npos;
}

}  // namespace

NsysProcess::NsysProcess(const NsysOptions& options, NsysNames* names, NsysModules* modules,
                         int64_t rank, NsysTruth* truth)
    : o_(options),
      names_(*names),
      modules_(*modules),
      truth_(truth),
      rank_(static_cast<size_t>(rank)),
      random_(options.seed * 7919 + static_cast<uint64_t>(rank)) {
  NsysPlace& place = truth->ranks[rank_].place;
  place.rank = rank;
  place.pid = kFirstPid + rank * 37;
  place.device = options.one_device ? 0 : rank;
  place.gpu = options.one_gpu ? 0 : rank;
  const int64_t own = options.equal_ids ? 0 : rank * 1000003;
  next_correlation_ = 1000 + own;
  next_graph_ = 5 + own;
  now_ns_ = 72898000000 + random_.Range(0, 40000) * 2;
  tid_ = place.pid;
}

// ---- ranges

size_t NsysProcess::AddRange(NsysRange::Kind kind, std::string_view text, int64_t domain) {
  now_ns_ += Short();
  NsysRange& range = rows_.ranges.emplace_back();
  range.kind = kind;
  range.text = names_.Id(text);
  range.name = kind == NsysRange::Kind::kOutputs || domain != 0 ? kNsysNone : range.text;
  range.start_ns = now_ns_;
  range.tid = tid_;
  range.domain = domain;
  range.registered = o_.registered && next_range_ % 2 == 0;
  range.start_end = o_.start_end && kind == NsysRange::Kind::kModule && next_range_ % 3 == 0;
  ++next_range_;
  ++truth().ranges;
  return rows_.ranges.size() - 1;
}

std::string NsysProcess::ModuleText(int32_t module, bool outputs) const {
  const std::string& path = modules_.path(module);
  if (o_.quotes == NsysOptions::Quotes::kPlain) {
    const int32_t parent = modules_.parent(module);
    return parent == kNsysNone ? path : path.substr(modules_.path(parent).size() + 1);
  }
  if (o_.quotes == NsysOptions::Quotes::kColon) return "Module:" + path;
  std::string text = "{'Module': '" + path + "'";
  if (o_.further_keys && !outputs) text += ", 'TrainableParams': 12582912, 'Inputs': [[8, 4096]]";
  if (outputs) text += ", 'Outputs': [[8, 4096]]";
  text += "}";
  if (o_.quotes == NsysOptions::Quotes::kDouble) std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

void NsysProcess::OpenModule(int32_t module) {
  const size_t row = AddRange(NsysRange::Kind::kModule, ModuleText(module, false), 0);
  open_.push_back({row, module, false});
  ++truth().calls[module];
  ++truth().scopes;
}

void NsysProcess::Open(NsysRange::Kind kind, std::string_view text, int64_t domain) {
  open_.push_back({AddRange(kind, text, domain), kNsysNone, false});
}

// emit_nvtx writes what it knows of an op.
void NsysProcess::OpenOp(const NsysItem& item) {
  if (!o_.ops) return;
  const int64_t id = next_op_++;
  const std::string name(names_[item.op]);
  std::string text = name;
  if (id % 3 != 0) text += ", seq = " + std::to_string(id / 3);
  text += ", op_id = " + std::to_string(id);
  if (id % 5 == 0) text += ", sizes = [[8, 4096], []]";
  Open(NsysRange::Kind::kOp, text);
  rows_.ranges.back().name = item.op;
  ++truth().ops;
}

void NsysProcess::Close() {
  now_ns_ += Short();
  const OpenRange open = open_.back();
  open_.pop_back();
  NsysRange& range = rows_.ranges[open.row];
  range.end_ns = now_ns_;
  truth().Seen(range.start_ns, range.end_ns);
  if (open.module == kNsysNone) return;
  if (capturing_ != nullptr && open.has_node) capturing_->replayed.push_back(open.module);
  const bool dictionary = o_.quotes < NsysOptions::Quotes::kColon;
  if (!o_.outputs || !dictionary) return;
  // vLLM's hook after the forward opens and closes a range that tells the outputs.
  Open(NsysRange::Kind::kOutputs, ModuleText(open.module, true));
  rows_.ranges.back().end_ns = now_ns_;
  open_.pop_back();
  ++truth().outputs;
}

int32_t NsysProcess::InnermostModule() const {
  for (size_t i = open_.size(); i > 0; --i) {
    if (open_[i - 1].module != kNsysNone) return open_[i - 1].module;
  }
  return kNsysNone;
}

// ---- steps

void NsysProcess::OpenStep(const NsysStepName& outer, const NsysStepName& inner) {
  if (!outer.name.empty()) Open(NsysRange::Kind::kStep, outer.name);
  step_ranges_ = outer.name.empty() ? 0 : 1;
  if (inner.name.empty()) return;
  Open(NsysRange::Kind::kStep, inner.name);
  ++step_ranges_;
  NsysStep& step = truth().steps.emplace_back();
  step.says = inner;
  step.says.number = std::max(step.says.number, outer.number);
  step.says.past = std::max(step.says.past, outer.past);
  step.start_ns = now_ns_;
  step_ = static_cast<int32_t>(truth().steps.size()) - 1;
  timeline_.HostDoes(now_ns_, NsysLine::kLaunchGap);
}

void NsysProcess::CloseStep() {
  for (; step_ranges_ > 0; --step_ranges_) {
    Close();
    if (step_ == kNsysNone) continue;
    truth().steps.back().end_ns = now_ns_;
    timeline_.HostDoes(now_ns_, NsysLine::kBetweenSteps);
    step_ = kNsysNone;
    CloseWindows(truth().steps.size() - 1);
  }
}

void NsysProcess::CloseWindows(size_t until) {
  for (; windows_ < until; ++windows_) {
    NsysStep& step = truth().steps[windows_];
    step.from_ns = windows_ == 0 ? step.start_ns : truth().steps[windows_ - 1].last_ns;
    step.lines = timeline_.Take(step.from_ns, step.last_ns);
  }
}

void NsysProcess::EndRecording(int64_t end_ns) {
  truth().open_ranges = static_cast<int64_t>(open_.size());
  if (step_ != kNsysNone) truth().steps.back().end_ns = end_ns;
  CloseWindows(truth().steps.size());
}

// ---- calls

NsysCall& NsysProcess::AddCall(std::string_view name, int64_t length_ns) {
  now_ns_ += Short();
  NsysCall& call = rows_.calls.emplace_back();
  call.name = names_.Id(name);
  call.start_ns = now_ns_;
  now_ns_ += length_ns;
  call.end_ns = now_ns_;
  call.tid = tid_;
  call.correlation = next_correlation_;
  next_correlation_ += 1 + static_cast<int64_t>(random_.Next() % 3);
  truth().Seen(call.start_ns, call.end_ns);
  if (!IsLaunch(name)) return call;
  ++truth().launches;
  truth().graph_launches += name.find("GraphLaunch") == std::string_view::npos ? 0 : 1;
  if (step_ != kNsysNone) ++truth().steps[static_cast<size_t>(step_)].launches;
  return call;
}

void NsysProcess::Call(std::string_view name, int64_t length_ns) {
  AddCall(name, length_ns);
}

void NsysProcess::Synchronize(int64_t after_ns) {
  const int64_t done_ns = timeline_.frontier_ns() + after_ns;
  NsysCall& call = AddCall("cudaStreamSynchronize_v3020", 800);
  call.end_ns = now_ns_ = std::max(now_ns_, done_ns);
  truth().Seen(call.start_ns, call.end_ns);
  timeline_.HostDoes(call.start_ns, NsysLine::kHostWait);
  timeline_.HostDoes(call.end_ns,
                     step_ == kNsysNone ? NsysLine::kBetweenSteps : NsysLine::kLaunchGap);
}

}  // namespace layerscope::gen
