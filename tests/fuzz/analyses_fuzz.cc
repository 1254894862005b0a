// Everything behind the reader over any trace that can be read: attribution, layers, every
// analysis, every way of showing it. Conservation is checked inside by LS_CHECK.
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/check.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_source.h"
#include "src/layers/find_layers.h"
#include "src/model/profile.h"
#include "src/model/rules.h"
#include "src/render/render.h"
#include "src/session/registry.h"

#include "tests/fuzz/target.h"

namespace {

using namespace layerscope;

void RenderAll(const std::string& command, const analysis::Output& output) {
  table::Result result;
  result.command = command;
  result.ranks = output.ranks;
  for (const render::Format format : {render::Format::kTable, render::Format::kJson,
                                      render::Format::kCsv, render::Format::kMarkdown}) {
    render::RenderOptions options;
    options.format = format;
    options.width = 80;
    (void)render::Render(result, options);
  }
}

/// Options that take other paths through the analyses; one is picked by the input's size, so that a
/// finding reproduces.
const std::vector<std::pair<std::string, session::RawOptions>>& Variants() {
  static const std::vector<std::pair<std::string, session::RawOptions>> variants = {
      {"modules", {{"rollup", "class"}}},
      {"modules", {{"rollup", "path"}}},
      {"modules", {{"rollup", "([a-zA-Z]+)_(\\d+)$"}}},
      {"modules", {{"depth", "2"}, {"no-comm", "true"}}},
      {"modules", {{"collapse", "true"}, {"sort", "gpu_incl_ns:asc"}}},
      {"kernels", {{"by", "op"}}},
      {"kernels", {{"by", "op-dims"}, {"step", "0"}}},
      {"kernels", {{"by", "module"}}},
      {"kernels", {{"by", "category"}, {"phase", "decode"}}},
      {"kernels", {{"by", "stream"}, {"from", "1us"}, {"to", "1ms"}}},
      {"steps", {{"by", "module"}}},
      {"steps", {{"rank-reduce", "max"}}},
      {"summary", {{"step", "0"}}},
      {"layers", {{"all-passes", "true"}}},
      {"layers", {{"pass", "1"}}},
      {"kernels", {{"by", "layer"}}},
      {"kernels", {{"layer", "1"}}},
      {"kernels", {{"layer", "0"}, {"compare-layer", "1"}}},
      {"kernels", {{"layer", "head"}, {"pass", "0"}}},
      {"ranges", {{"layers", "0..2"}}},
  };
  return variants;
}

const std::vector<std::string> kInputs = {"fuzz.json"};

void Analyse(const session::AnalysisSpec& spec, const session::OptionValues& options,
             const analysis::AnalysisInput& input) {
  for (const bool for_people : {true, false}) {
    analysis::Presentation presentation;
    presentation.for_people = for_people;
    const auto output = spec.compute(input, options, presentation, kInputs);
    if (output.ok()) RenderAll(spec.name, *output);
  }
}

void AnalyseAll(const analysis::AnalysisInput& input, size_t pick) {
  for (const session::AnalysisSpec& spec : session::Analyses()) Analyse(spec, {}, input);
  const auto& [verb, raw] = Variants()[pick % Variants().size()];
  const session::AnalysisSpec* spec = session::FindAnalysis(verb);
  LS_CHECK(spec != nullptr, "a variant's verb exists");
  const auto options = session::ParseOptions(session::AllOptions(*spec), raw);
  LS_CHECK(options.ok(), "a variant's options are valid");
  Analyse(*spec, *options, input);
}

/// Ways of looking for layers; one is picked by the input's size.
layers::LayerOptions LayerOptionsOf(size_t pick) {
  layers::LayerOptions options;
  options.profile = model::ChooseProfile(nullptr).profile;
  switch (pick % 5) {
    case 1:
      options.anchor = "norm";
      break;
    case 2:
      options.anchor = "/attention|flash|fmha/";
      options.num_layers = 2;
      break;
    case 3:
      options.anchor = "rms_norm_kernel";
      options.anchor_is_boundary = true;
      options.blocks_per_layer = 2;
      break;
    case 4:
      options.num_layers = 3;
      break;
    default:
      break;
  }
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto rules = model::LoadRuleSet("");
  LS_CHECK(rules.ok(), "the rules that are built in load");
  const auto source = io::OpenMemory({reinterpret_cast<const char*>(data), size});
  ingest::kineto::ReadOptions options;
  options.threads = 1;
  options.chunk_bytes = size_t{16} << 10;
  auto trace = ingest::kineto::ReadTrace(*source, options);
  if (!trace.ok()) return 0;
  const attribution::Attribution attribution = attribution::Attribute(*trace, *rules);
  const auto layers = layers::FindLayers(*trace, attribution, LayerOptionsOf(size / 4));
  analysis::RankInput rank;
  rank.trace = &*trace;
  rank.attribution = &attribution;
  if (layers.ok()) {
    rank.layers = &*layers;
  } else {
    rank.no_layers = layers.error();
  }
  // Every other input is two ranks of one run.
  std::array<analysis::RankInput, 2> ranks = {rank, rank};
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].rank = static_cast<int64_t>(i);
    ranks[i].path = "rank" + std::to_string(i) + ".json";
  }
  analysis::AnalysisInput input;
  input.ranks = std::span(ranks).first(1 + size % 2);
  input.rules = &*rules;
  input.profile = model::ChooseProfile(nullptr).profile;
  AnalyseAll(input, size / 2);
  return 0;
}
