#include "bench/gen/replay_requests.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "bench/gen/json_text.h"
#include "bench/gen/replay_capture.h"

namespace layerscope::gen {
namespace {

constexpr int64_t kServedAt = 4909914216000000;

struct Request {
  std::string_view file, label;
  int64_t percentile, prompt_tokens, output_tokens, source_index;
  bool image;
};

constexpr std::array<Request, 3> kRequests = {{{"fast", "Fast", 10, 64, 2, 17, false},
                                               {"typical", "Typical", 50, 256, 3, 4, false},
                                               {"slow", "Slow", 95, 1024, 5, 31, true}}};

// A prompt's kernels take longer than those of one token.
Plan Scaled(Plan plan, int64_t tokens) {
  for (PlanItem& item : plan) item.work_ns += item.work_ns * tokens / 128;
  return plan;
}

void RunRequest(const ReplayOptions& options, const Request& request, Host* host) {
  ReplayOptions first = options;
  first.vision = request.image;
  const std::string n = std::to_string(request.prompt_tokens);
  host->set_pass(0);
  host->OpenAnnotation("step[EXTEND bs=1 toks=" + n + "]");
  PlayEagerly(options, host, Scaled(PlanForward(first, 1), request.prompt_tokens));
  host->Close();
  host->ReadyAgain(200000);
  for (int64_t i = 1; i < request.output_tokens; ++i) {
    host->set_pass(i);
    host->OpenAnnotation("step[DECODE bs=1]");
    PlayEagerly(options, host, PlanForward(options, 1));
    host->Close();
    host->ReadyAgain(200000);
  }
}

std::string RenderMetadata(const ReplayOptions& options,
                           const std::array<int64_t, kRequests.size()>& latency_ns) {
  std::string text;
  JsonText json(&text, Layout::kTorch);
  json.Object().Line(1).Key("schema").String("layerscope/requests/1");
  json.Line(1).Key("model").String(options.family == ReplayOptions::Family::kMoe ? "Qwen3-MoE"
                                                                                 : "Qwen3");
  json.Line(1).Key("engine").String("sglang").Line(1).Key("mode").String("eager");
  json.Line(1).Key("requests").Array();
  for (size_t i = 0; i < kRequests.size(); ++i) {
    const Request& request = kRequests[i];
    json.Line(2).Object().Key("file").String(std::string(request.file) + ".json");
    json.Key("label").String(request.label).Key("percentile").Int(request.percentile);
    json.Key("prompt_tokens").Int(request.prompt_tokens);
    json.Key("output_tokens").Int(request.output_tokens);
    json.Key("latency_ns").Int(latency_ns[i]);
    json.Key("source_index").Int(request.source_index).EndObject();
  }
  json.Line(1).EndArray().Line(0).EndObject();
  return text + "\n";
}

}  // namespace

bool WriteRequests(const ReplayOptions& options, std::string* error) {
  std::error_code failure;
  std::filesystem::create_directories(options.output + "/truth", failure);
  std::array<int64_t, kRequests.size()> latency_ns = {};
  bool done = !failure;
  for (size_t i = 0; i < kRequests.size() && done; ++i) {
    ModuleNumbers numbers;
    Host host(options, &numbers, 0, kServedAt, options.seed + i);
    RunRequest(options, kRequests[i], &host);
    latency_ns[i] = host.now_ns() - kServedAt;
    const std::string stem(kRequests[i].file);
    done =
        WriteTraceFile(options.output + "/" + stem + ".json", host.header(), host.events()) &&
        WriteTextFile(options.output + "/truth/" + stem + ".json", RenderReplayTruth(host.truth()));
  }
  done = done && WriteTextFile(options.output + "/request_metadata.json",
                               RenderMetadata(options, latency_ns));
  if (!done) *error = "cannot write below " + options.output;
  return done;
}

}  // namespace layerscope::gen
