// layerscope-gen: writes traces and databases and, beside them, what is true of them.

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/gen/document.h"
#include "bench/gen/engine.h"
#include "bench/gen/family.h"
#include "bench/gen/family_engine.h"
#include "bench/gen/nsys_options.h"
#include "bench/gen/nsys_run.h"
#include "bench/gen/options.h"
#include "bench/gen/replay_options.h"
#include "bench/gen/replay_requests.h"
#include "bench/gen/replay_run.h"
#include "bench/gen/text_sink.h"
#include "bench/gen/truth_text.h"

namespace layerscope::gen {
namespace {

bool Fail(const std::string& message) {
  std::fprintf(stderr, "layerscope-gen: %s\n", message.c_str());
  return false;
}

bool MorePasses(const Options& options, int64_t pass, const TextSink& sink,
                const Document& document) {
  if (options.target_bytes > 0) return sink.bytes() < options.target_bytes;
  if (options.target_events > 0) return document.counts().events < options.target_events;
  return pass < options.passes * options.repeat;
}

// Runs passes and writes each when it is done, so that memory does not grow with the trace.
template <typename Loop>
void WritePasses(const Options& options, Process* process, TextSink* sink, Document* document) {
  Loop engine(options, process, Document::ArgsDepth(options));
  document->Begin();
  engine.RunBefore();
  std::vector<Event>& events = process->recording.events;
  for (int64_t pass = 0; MorePasses(options, pass, *sink, *document); ++pass) {
    engine.RunPass(options.repeat > 1 ? pass % options.passes : pass);
    process->truth.Settle(engine.now_ns());
    if (options.order == EventOrder::kFile) continue;
    document->WriteBatch(events);
    events.clear();
  }
  document->WriteBatch(events);
  document->End(engine.now_ns());
}

bool WriteText(const std::string& path, const std::string& text) {
  TextSink sink;
  if (!sink.Open(path)) return Fail("cannot write " + path);
  sink.buffer() += text;
  return sink.Finish() || Fail("cannot write " + path);
}

bool WriteTrace(const Options& options, int64_t rank, const std::string& path,
                const std::string& truth_path) {
  TextSink sink;
  if (!sink.Open(path)) return Fail("cannot write " + path);
  Process process(options, options.seed * 1000003 + static_cast<uint64_t>(rank + 1));
  Document document(options, rank, &sink);
  if (options.UsesFamily()) {
    WritePasses<FamilyEngine>(options, &process, &sink, &document);
  } else {
    WritePasses<Engine>(options, &process, &sink, &document);
  }
  TruthContext context{std::filesystem::path(path).filename().string(), rank, sink.bytes()};
  if (!sink.Finish()) return Fail("cannot write " + path);
  if (truth_path.empty()) return true;
  const StructureData* structure = options.UsesFamily() ? &process.structure.Finish() : nullptr;
  return WriteText(truth_path, RenderTruth(options, context, document.counts(), process.modules,
                                           process.truth.Finish(), structure));
}

bool WriteConfig(const Options& options) {
  if (options.config.empty()) return true;
  const Family& family = ChosenFamily(options);
  if (!family.has_config) return true;
  return WriteText(options.config, RenderConfig(family, LayerForms(family, options)) + "\n");
}

bool WriteRanks(const Options& options) {
  const std::filesystem::path directory(options.output);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Fail("cannot make " + options.output + ": " + error.message());
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    if (rank == options.missing_rank) continue;
    const std::string stem = (directory / ("rank" + std::to_string(rank))).string();
    const std::string truth = options.truth.empty() ? "" : stem + ".truth";
    if (!WriteTrace(options, rank, stem + ".1759347582.pt.trace.json", truth)) return false;
  }
  return true;
}

// `serve …`: a run with captured graphs; `requests …`: requests traced one by one.
int RunVerb(const std::vector<std::string>& words) {
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(ReplayHelpText().c_str(), stdout);
    return 0;
  }
  ReplayOptions options;
  std::string error;
  if (!ParseReplayOptions(arguments, &options, &error)) {
    Fail(error);
    return 2;
  }
  const bool done =
      words[0] == "serve" ? WriteReplayRun(options, &error) : WriteRequests(options, &error);
  return done || Fail(error) ? 0 : 1;
}

// `nsys …`: a run as an Nsight Systems database, as Kineto traces, or both.
int RunNsys(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(NsysHelpText().c_str(), stdout);
    return 0;
  }
  NsysOptions options;
  std::string error;
  if (!ParseNsysOptions(arguments, &options, &error)) {
    Fail(error);
    return 2;
  }
  return WriteNsysRun(options, &error) || Fail(error) ? 0 : 1;
}

int Run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "nsys")
    return RunNsys({arguments.begin() + 1, arguments.end()});
  if (!arguments.empty() && (arguments[0] == "serve" || arguments[0] == "requests"))
    return RunVerb(arguments);
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(HelpText().c_str(), stdout);
    return 0;
  }
  Options options;
  std::string error;
  if (!ParseOptions(arguments, &options, &error)) {
    Fail(error);
    return 2;
  }
  if (!WriteConfig(options)) return 1;
  if (options.ranks > 0) return WriteRanks(options) ? 0 : 1;
  return WriteTrace(options, -1, options.output, options.truth) ? 0 : 1;
}

}  // namespace
}  // namespace layerscope::gen

int main(int argc, char** argv) {
  return layerscope::gen::Run(std::vector<std::string>(argv + 1, argv + argc));
}
