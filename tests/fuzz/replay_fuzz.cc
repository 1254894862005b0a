// What side files do to a trace: captures, an eager run, graph annotations, templates and a model
// tree laid over any trace that can be read. One input holds the files, a line of kSeparator
// between: the trace, the recording, the graph annotations, the model tree, the config. A recording
// that is missing is the trace itself.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/attribution/module_paths.h"
#include "src/base/check.h"
#include "src/ingest/kineto/reader.h"
#include "src/io/byte_source.h"
#include "src/layers/find_layers.h"
#include "src/model/graph_annotations.h"
#include "src/model/model_config.h"
#include "src/model/model_tree.h"
#include "src/model/profile.h"
#include "src/model/rules.h"
#include "src/replay/resolve.h"

#include "tests/fuzz/target.h"

namespace {

using namespace layerscope;

using attribution::Attribution;
using attribution::Evidence;

constexpr std::string_view kSeparator = "\n=====\n";

std::vector<std::string_view> PartsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t at = text.find(kSeparator); at != std::string_view::npos;
       at = text.find(kSeparator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + kSeparator.size());
  }
  parts.push_back(text);
  return parts;
}

const kernel_names::RuleSet& Rules() {
  static const auto rules = model::LoadRuleSet("");
  LS_CHECK(rules.ok(), "the rules that are built in load");
  return *rules;
}

/// A trace that can be read, and what is known of it before anything is laid over it.
struct Loaded {
  trace::Trace trace;
  Attribution attribution;
};

std::optional<Loaded> Load(std::string_view text) {
  const auto source = io::OpenMemory(text);
  ingest::kineto::ReadOptions options;
  options.threads = 1;
  options.chunk_bytes = size_t{16} << 10;
  auto trace = ingest::kineto::ReadTrace(*source, options);
  if (!trace.ok()) return std::nullopt;
  Loaded loaded{*std::move(trace), {}};
  loaded.attribution = attribution::Attribute(loaded.trace, Rules());
  return loaded;
}

/// Which sources are given; one choice is picked by the input's size, so that a finding reproduces.
struct Given {
  bool captures, eager, annotations, layers, config;
};
constexpr Given kGiven[] = {
    {true, false, false, false, false}, {false, true, false, false, false},
    {false, false, true, false, false}, {false, false, false, true, true},
    {true, true, true, true, true},     {false, false, false, true, false},
    {true, false, false, true, false},
};

void CheckTree(const Attribution& attribution, const trace::Trace& trace) {
  const attribution::ModuleTree& tree = attribution.modules;
  std::vector<size_t> around;  // the modules from a root down to the one before
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    const attribution::Module& module = tree.modules[i];
    while (!around.empty() && !(module.parent.valid() && module.parent.index() == around.back())) {
      around.pop_back();
    }
    LS_CHECK(module.parent.valid() == !around.empty(), "modules are in pre-order");
    LS_CHECK(module.depth == static_cast<int>(around.size()) + 1, "depth counts the levels above");
    LS_CHECK(module.name.valid() && module.calls + module.captured_calls > 0,
             "a module has a name and was called");
    (void)tree.Path(attribution::ModuleId(i), trace);
    (void)tree.ClassOf(attribution::ModuleId(i), trace);
    around.push_back(i);
  }
  const size_t n_scopes = tree.module_of_scope.size();
  LS_CHECK(n_scopes >= trace.scopes.size() && n_scopes == tree.parent_of_scope.size() &&
               n_scopes == tree.depth_of_scope.size(),
           "replayed calls have all columns");
  for (size_t i = 0; i < n_scopes; ++i) {
    LS_CHECK(tree.module_of_scope[i].index() < tree.modules.size(), "a call is of a module");
    const trace::ScopeId parent = tree.parent_of_scope[i];
    if (!parent.valid()) continue;
    LS_CHECK(tree.depth_of_scope[parent.index()] < tree.depth_of_scope[i], "calls form a tree");
  }
}

void CheckRows(const Attribution& before, const Attribution& after, const trace::Trace& trace) {
  const size_t n_ops = trace.ops.size() + after.replayed_ops.size();
  LS_CHECK(after.replayed_ops.name.size() == after.replayed_ops.args.size(),
           "ops have all columns");
  for (size_t row = 0; row < after.module.size(); ++row) {
    const attribution::ModuleId module = after.module[row];
    const trace::ScopeId scope = after.scope[row];
    const Evidence evidence = after.module_evidence[row];
    LS_CHECK(module.valid() == (evidence != Evidence::kUnresolved),
             "a module has evidence, and evidence a module");
    LS_CHECK(module.valid() == (after.module_reason[row] == attribution::Reason::kNone),
             "only a row without a module has a reason");
    LS_CHECK(module.valid() == scope.valid(), "a module was called");
    if (scope.valid()) {
      LS_CHECK(after.modules.module_of_scope[scope.index()] == module,
               "a row's module is its call's");
    }
    LS_CHECK(!after.op[row].valid() || after.op[row].index() < n_ops, "an op exists");
    if (after.op[row].valid()) (void)trace.strings[after.OpName(trace, after.op[row])];
    if (after.under_graph[row] != 0) continue;
    LS_CHECK(after.op[row] == before.op[row] && after.scope[row] == before.scope[row] &&
                 evidence == before.module_evidence[row],
             "what no graph launched stays as it was");
  }
}

/// Every kernel under a graph launch is of one graph, and is placed or not.
void CheckAlignments(const Attribution& attribution) {
  for (const attribution::GraphAlignment& graph : attribution.alignments) {
    LS_CHECK(graph.launches > 0 && graph.pieces > 0 && graph.kernels_per_launch >= 0,
             "a graph was launched");
    LS_CHECK(graph.matched >= 0 && graph.mismatched >= 0 && graph.missing >= 0,
             "counts are no less than none");
    LS_CHECK(graph.confidence >= 0 && graph.confidence <= 1, "a confidence is a share");
    LS_CHECK(!graph.withheld || !graph.reason.empty(), "what is withheld says why");
  }
}

void Check(const Attribution& before, const std::vector<int64_t>& durations, const Loaded& loaded) {
  const trace::Activities& all = loaded.attribution.rows(loaded.trace);
  LS_CHECK(all.dur_ns == durations, "durations stay");
  CheckTree(loaded.attribution, loaded.trace);
  CheckRows(before, loaded.attribution, loaded.trace);
  CheckAlignments(loaded.attribution);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string_view> parts = PartsOf({reinterpret_cast<const char*>(data), size});
  const auto part = [&](size_t i) { return i < parts.size() ? parts[i] : std::string_view(); };
  std::optional<Loaded> loaded = Load(parts[0]);
  if (!loaded) return 0;
  const std::optional<Loaded> recorded = Load(parts.size() > 1 ? parts[1] : parts[0]);
  const auto annotations = model::ParseGraphAnnotations(part(2), "graph_annotations.json");
  const auto tree = model::ParseModelTree(part(3), "model_tree.json");
  const auto config = model::ParseModelConfig(part(4), "config.json");

  const Given& given = kGiven[size % std::size(kGiven)];
  layers::LayerOptions layer_options;
  layer_options.profile = model::ChooseProfile(nullptr).profile;
  if (given.config && config.ok()) layer_options.config = &*config;
  const auto layers = layers::FindLayers(loaded->trace, loaded->attribution, layer_options);

  replay::SideTrace side;
  side.path = "bs_32_rank0.json";
  side.batch = 32;
  if (recorded) {
    side.trace = &recorded->trace;
    side.attribution = &recorded->attribution;
  }
  const replay::SideFile file{side.path, side.rank, side.batch,
                              [&] { return recorded ? &side : nullptr; }};
  replay::Sources sources;
  if (given.captures) sources.captures = {file};
  if (given.eager) sources.eager = {file};
  if (given.annotations && annotations.ok()) sources.annotations = &*annotations;
  if (given.layers && layers.ok()) sources.layers = &*layers;
  sources.config = layer_options.config;

  const Attribution before = loaded->attribution;
  const std::vector<int64_t> durations = before.rows(loaded->trace).dur_ns;
  replay::ResolveReplays(loaded->trace, loaded->attribution, sources);
  Check(before, durations, *loaded);
  if (!tree.ok()) return 0;
  (void)attribution::ApplyModelTree(*tree, loaded->trace, loaded->attribution);
  Check(before, durations, *loaded);
  return 0;
}
