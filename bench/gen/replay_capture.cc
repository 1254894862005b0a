#include "bench/gen/replay_capture.h"

#include <algorithm>
#include <utility>

namespace layerscope::gen {
namespace {

using Kind = PlanItem::Kind;

constexpr std::string_view kFill =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<long>, std::array<char*, 1ul>)";
constexpr std::string_view kDeviceToDevice = "Memcpy DtoD (Device -> Device)";
constexpr int64_t kNodesPerGraph = 1 << 20;

// Opens and closes scopes of a plan; those that a compiled model does not call are left out.
class Scopes {
 public:
  Scopes(Host* host, bool compiled, bool modules = true)
      : host_(*host), compiled_(compiled), modules_(modules) {}

  // True when `item` was a scope.
  bool Take(const PlanItem& item) {
    switch (item.kind) {
      case Kind::kOpenModule: {
        const bool shown = modules_ && !(compiled_ && item.compiled);
        shown_.push_back(shown);
        if (shown) host_.OpenModule(item.text, item.path);
        return true;
      }
      case Kind::kCloseModule:
        if (shown_.back()) host_.Close();
        shown_.pop_back();
        return true;
      case Kind::kOpenOp:
        host_.OpenOp(item.text);
        return true;
      case Kind::kCloseOp:
        host_.Close();
        return true;
      default:
        return false;
    }
  }

 private:
  Host& host_;
  bool compiled_, modules_;
  std::vector<bool> shown_;
};

void Run(Host* host, const PlanItem& item) {
  if (item.kind == Kind::kKernel) host->Launch(item.text, item.work_ns, item.side);
  if (item.kind == Kind::kCopy) host->Copy(kDeviceToDevice, item.work_ns);
}

// Between two pieces the attention runs while they are captured too, on nothing.
size_t PlayBetweenPieces(Host* host, const Plan& plan, size_t begin) {
  size_t end = begin + 1;
  while (plan[end].kind != Kind::kBreak) ++end;
  host->OpenOp("vllm::unified_attention_with_output");
  host->OpenOp("aten::fill_");
  host->Launch(std::string(kFill), 1500);
  host->Close();
  host->Close();
  return end;
}

std::string Call(const ReplayOptions& options, std::string_view name) {
  return (options.amd() ? "hip" : "cuda") + std::string(name);
}

// Streams order their work by events.
void SwitchStream(const ReplayOptions& options, Host* host, bool to_side, bool* on_side) {
  if (to_side == *on_side) return;
  host->Call(Call(options, "EventRecord"));
  host->Call(Call(options, "StreamWaitEvent"));
  *on_side = to_side;
}

// A neighbour of the same name may be taken for the lost one.
void MarkUncertain(std::vector<CapturedNode>& nodes) {
  const auto same = [&nodes](size_t a, size_t b) {
    return nodes[a].item.text == nodes[b].item.text && nodes[a].item.side == nodes[b].item.side;
  };
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin + 1;
    while (end < nodes.size() && same(begin, end)) ++end;
    const bool lost = std::any_of(nodes.begin() + static_cast<int64_t>(begin),
                                  nodes.begin() + static_cast<int64_t>(end),
                                  [](const CapturedNode& node) { return node.lost; });
    for (; begin < end; ++begin) nodes[begin].uncertain = lost;
  }
}

}  // namespace

int64_t CapturedGraph::kernels() const {
  int64_t count = 0;
  for (const CapturedPiece& piece : pieces) {
    count += std::count_if(piece.nodes.begin(), piece.nodes.end(), [](const CapturedNode& node) {
      return node.item.kind == Kind::kKernel;
    });
  }
  return count;
}

void PlayEagerly(const ReplayOptions& options, Host* host, const Plan& plan) {
  Scopes scopes(host, options.compiled);
  bool on_side = false;
  for (const PlanItem& item : plan) {
    if (scopes.Take(item)) continue;
    SwitchStream(options, host, item.side, &on_side);
    Run(host, item);
  }
}

void PlayPart(Host* host, const Plan& plan, size_t begin, size_t end) {
  Scopes scopes(host, false, false);
  for (size_t i = begin; i < end; ++i) {
    if (!scopes.Take(plan[i])) Run(host, plan[i]);
  }
}

void PlayIntoCapture(const ReplayOptions& options, Host* host, CapturedGraph* graph) {
  const bool piecewise = options.launch == ReplayOptions::Launch::kPiecewise;
  Scopes scopes(host, options.compiled);
  CapturedPiece piece;
  int64_t next_node = options.node_base + (graph->index + 1) * kNodesPerGraph;
  bool on_side = false;
  host->Call(Call(options, "StreamBeginCapture"));
  for (size_t i = 0; i < graph->plan.size(); ++i) {
    const PlanItem& item = graph->plan[i];
    if (scopes.Take(item)) continue;
    if (item.kind == Kind::kBreak) {
      if (!piecewise) continue;
      host->Call(Call(options, "StreamEndCapture"));
      piece.eager_begin = i + 1;
      piece.eager_end = i = PlayBetweenPieces(host, graph->plan, i);
      graph->pieces.push_back(std::exchange(piece, {}));
      host->Call(Call(options, "StreamBeginCapture"));
      continue;
    }
    SwitchStream(options, host, item.side, &on_side);
    piece.nodes.push_back(host->LaunchIntoCapture(item));
    piece.nodes.back().id = next_node++;
  }
  host->Call(Call(options, "StreamEndCapture"));
  graph->pieces.push_back(std::move(piece));
  host->Call(Call(options, "GraphInstantiateWithFlags"));
}

std::vector<CapturedPiece> Distorted(const ReplayOptions& options, const CapturedGraph& graph,
                                     int64_t replay) {
  std::vector<CapturedPiece> pieces = graph.pieces;
  std::vector<CapturedNode*> kernels;
  for (CapturedPiece& piece : pieces) {
    for (CapturedNode& node : piece.nodes) {
      if (node.item.kind == Kind::kKernel) kernels.push_back(&node);
    }
  }
  const auto total = static_cast<int64_t>(kernels.size());
  // Two replays in turn lose different ones; with a shift that many in a row do.
  constexpr int64_t kShift = 37;
  const int64_t shift = options.lose_apart ? replay % total * kShift : 0;
  for (int64_t i = 0; i < options.lose; ++i) {
    const int64_t at = ((2 * i + 1 + replay % 2) * total / (2 * options.lose + 2) + shift) % total;
    kernels[static_cast<size_t>(at)]->lost = true;
  }
  for (CapturedPiece& piece : pieces) {
    if (options.lose > 0) MarkUncertain(piece.nodes);
  }
  for (int64_t i = 0; i < options.extra; ++i) {
    CapturedPiece& piece = pieces[static_cast<size_t>(i) % pieces.size()];
    CapturedNode probe;
    probe.item = {Kind::kKernel, "_debug_probe_kernel", "", 1200};
    probe.op = "extra";
    const int64_t at = (i + 1) * static_cast<int64_t>(piece.nodes.size()) / (options.extra + 2);
    piece.nodes.insert(piece.nodes.begin() + at, probe);
  }
  return pieces;
}

}  // namespace layerscope::gen
