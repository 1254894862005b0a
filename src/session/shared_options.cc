#include "src/session/shared_options.h"

#include <utility>

#include "src/render/render.h"
#include "src/session/registry.h"

namespace layerscope::session {
namespace {

OptionSpec WithLetter(char letter, OptionSpec spec) {
  spec.letter = letter;
  return spec;
}

OptionSpec NamesFile(OptionSpec spec) {
  spec.names_file = spec.once = true;
  return spec;
}

/// An option that changes how, not what.
OptionSpec NotInEnvelope(OptionSpec spec) {
  spec.in_envelope = false;
  return spec;
}

OptionSpec Hidden(OptionSpec spec) {
  spec.hidden = true;
  return NotInEnvelope(std::move(spec));
}

OptionSpec WithFallback(std::string fallback, OptionSpec spec) {
  spec.fallback = std::move(fallback);
  return spec;
}

std::vector<OptionSpec> OutputOptions() {
  return {
      WithFallback("table", NotInEnvelope(ChoiceOption("format", "FORMAT", FormatNames(),
                                                       "form of the output"))),
      NotInEnvelope(TextOption("table", "NAME", "with --format csv: the table to print")),
      NotInEnvelope(WithLetter('o', TextOption("output", "FILE", "write the output to FILE"))),
      WithFallback("auto", NotInEnvelope(ChoiceOption("color", "WHEN", {"auto", "always", "never"},
                                                      "colour in tables"))),
      NotInEnvelope(WithLetter('v', FlagOption("verbose",
                                               "full names, and health entries that "
                                               "are for information only"))),
      NotInEnvelope(WithLetter('q', FlagOption("quiet",
                                               "no warnings, in the output for people and on "
                                               "stderr, and no progress bar")))};
}

std::vector<OptionSpec> RunOptions() {
  OptionSpec memory =
      TextOption("memory-limit", "SIZE", "refuse inputs that would need more memory than SIZE");
  memory.kind = OptionKind::kSize;
  OptionSpec chunk = TextOption("chunk-size", "SIZE", "bytes of one slice of the reader");
  chunk.kind = OptionKind::kSize;
  return {
      TextOption("rules", "FILE", "category rules (TOML) that come before the built-in ones"),
      FlagOption("strict", "exit 3 when data was lost while reading, or a result is withheld"),
      WithFallback("one a core", NotInEnvelope(IntegerOption("threads", "N", "threads to use"))),
      NotInEnvelope(std::move(memory)),
      NotInEnvelope(FlagOption("stats", "time of each stage, memory and speed on stderr")),
      NotInEnvelope(FlagOption("no-progress", "no progress bar on stderr")),
      WithFallback("the terminal's; none where the output is piped",
                   NotInEnvelope(IntegerOption("width", "COLUMNS",
                                               "width of a line of a table; 0 = no limit"))),
      Hidden(std::move(chunk))};
}

}  // namespace

OptionSpec TextOption(std::string name, std::string value_name, std::string help) {
  OptionSpec spec;
  spec.name = std::move(name);
  spec.value_name = std::move(value_name);
  spec.help = std::move(help);
  return spec;
}

OptionSpec FlagOption(std::string name, std::string help) {
  OptionSpec spec = TextOption(std::move(name), {}, std::move(help));
  spec.kind = OptionKind::kFlag;
  return spec;
}

OptionSpec IntegerOption(std::string name, std::string value_name, std::string help) {
  OptionSpec spec = TextOption(std::move(name), std::move(value_name), std::move(help));
  spec.kind = OptionKind::kInteger;
  return spec;
}

OptionSpec DurationOption(std::string name, std::string help) {
  OptionSpec spec = TextOption(std::move(name), "T", std::move(help));
  spec.kind = OptionKind::kDuration;
  return spec;
}

OptionSpec ChoiceOption(std::string name, std::string value_name, std::vector<std::string> choices,
                        std::string help) {
  OptionSpec spec = TextOption(std::move(name), std::move(value_name), std::move(help));
  spec.kind = OptionKind::kChoice;
  spec.choices = std::move(choices);
  return spec;
}

std::string HelpExample(const std::string& verb, const std::string& options) {
  std::string text = "layerscope ";
  if (!verb.empty()) text += verb + " ";
  text += "examples/qwen3_8b_h100_vllm.json.gz";
  return options.empty() ? text : text + " " + options;
}

OptionSpec RankOption() {
  return IntegerOption("rank", "R", "only this rank");
}

std::vector<OptionSpec> SelectionOptions() {
  OptionSpec step =
      TextOption("step", "N",
                 "only this step (its number in `steps`, or N of ProfilerStep#N), or FIRST..LAST");
  step.kind = OptionKind::kStepRange;
  return {
      RankOption(),
      TextOption("pid", "P", "only this host process"),
      TextOption("device", "D", "only this device"),
      TextOption("stream", "S", "only this stream"),
      std::move(step),
      ChoiceOption("phase", "P",
                   {"prefill", "decode", "mixed", "draft", "target_verify", "capture", "unknown"},
                   "only steps of this phase, or passes of this kind"),
      TextOption("module", "M",
                 "only this module (path, instance, class, or a row of several: "
                 "Layer_0..35) and all below it; or [unattributed]"),
      DurationOption("from", "only activities that start at or after T (3.2ms)"),
      DurationOption("to", "only activities that start before T")};
}

std::vector<OptionSpec> PassOptions() {
  OptionSpec pass = TextOption("pass", "N", "only this pass (index, as passes lists it), or N..M");
  pass.kind = OptionKind::kStepRange;
  OptionSpec layer = TextOption("layer", "N",
                                "only this layer of the model, N..M, or head or tail: what the "
                                "pass does before and after its layers");
  return {std::move(pass), std::move(layer)};
}

std::vector<OptionSpec> LayerOptionSpecs() {
  return {
      WithFallback(
          "config.json beside the trace",
          NamesFile(TextOption("config", "FILE|DIR",
                               "the model's Hugging Face config.json; it also names the modules of "
                               "layers in graphs that no recording explains"))),
      WithFallback(
          "chosen from the config",
          NamesFile(TextOption("profile", "NAME|FILE", "how the model's layers show in kernels"))),
      TextOption("anchor-kernel", "SUBSTR|/RE/",
                 "a kernel that opens each layer or block, or stands once a layer"),
      FlagOption("anchor-boundary", "the anchor opens a block: cut right before it"),
      WithFallback("the profile's",
                   IntegerOption("blocks-per-layer", "K", "blocks (anchors) that make a layer")),
      IntegerOption("anchor-offset", "I", "the occurrence of the anchor that opens layer 0"),
      WithFallback("the config's, else what the trace shows",
                   IntegerOption("num-layers", "N", "layers of the model")),
      IntegerOption("tp", "N", "tensor parallel size"),
      IntegerOption("pp", "N", "pipeline parallel size"),
      IntegerOption("dp", "N", "data parallel size"),
      IntegerOption("ep", "N", "expert parallel size"),
      NamesFile(TextOption("server-args", "FILE|TEXT",
                           "the server's command line, which says the parallel sizes"))};
}

std::vector<OptionSpec> SideFileOptionSpecs() {
  constexpr const char* kBeside = "what lies beside the trace by its name";
  std::vector<OptionSpec> options = {
      WithFallback(kBeside, TextOption("capture-trace", "FILE|DIR",
                                       "the trace that was recorded while the graphs were "
                                       "captured, or a folder of them")),
      WithFallback("the trace's own eager steps",
                   TextOption("eager-trace", "FILE|DIR",
                              "a trace of the same model without graphs, or a folder of its "
                              "ranks")),
      WithFallback(kBeside,
                   TextOption("graph-annotations", "FILE|DIR",
                              "the module of each graph node: graph_annotations_rank<r>.json")),
      WithFallback(kBeside, TextOption("model-tree", "FILE|DIR",
                                       "the paths of the model's modules: model_tree.json, or a "
                                       "JSON list of named_modules()")),
      TextOption(
          "inductor-debug", "DIR|FILE",
          "what torch.compile wrote with TORCH_COMPILE_DEBUG=1 INDUCTOR_PROVENANCE=1, or one "
          "provenance map")};
  for (OptionSpec& option : options) option.names_file = option.once = true;
  options.push_back(
      FlagOption("no-side-files", "use no file that lies beside the trace and is not named"));
  return options;
}

std::vector<OptionSpec> ModelOptionSpecs() {
  return JoinOptions({LayerOptionSpecs(), SideFileOptionSpecs()});
}

std::vector<OptionSpec> BenchmarkOptions() {
  OptionSpec bench =
      TextOption("bench", "FILE", "a benchmark's result; may be given several times");
  bench.kind = OptionKind::kTexts;
  std::vector<OptionSpec> options = {
      std::move(bench),
      TextOption("prometheus", "FILE", "the server's /metrics, saved after the run"),
      TextOption("prometheus-before", "FILE",
                 "the same from before the run: only what came between counts")};
  for (OptionSpec& option : options) option.names_file = true;
  OptionSpec run = IntegerOption("run", "N", "of several runs the one that is shown");
  run.fallback = "the first with single requests";
  options.push_back(std::move(run));
  return options;
}

std::vector<OptionSpec> RowOptions() {
  return {WithFallback("what fits, all for json and csv",
                       WithLetter('n', IntegerOption("rows", "ROWS", "rows to show; 0 = all"))),
          TextOption("sort", "COL[:asc]", "order rows by a column, largest first")};
}

std::vector<OptionSpec> RankReduceOptions() {
  return {ChoiceOption("rank-reduce", "HOW", analysis::RankReduceNames(),
                       "one row a step over all ranks"),
          FlagOption("per-rank",
                     "with --rank-reduce, or of several recordings: each rank's table too")};
}

std::optional<analysis::RankReduce> RankReduceOf(const OptionValues& values) {
  const std::optional<size_t> how = values.Choice("rank-reduce");
  if (!how) return std::nullopt;
  return static_cast<analysis::RankReduce>(*how);
}

analysis::Selection SelectionOf(const OptionValues& values) {
  analysis::Selection selection;
  selection.rank = values.Number("rank");
  selection.pid = values.Text("pid");
  selection.device = values.Text("device");
  selection.stream = values.Text("stream");
  selection.steps = values.Range("step");
  selection.phase = values.Text("phase");
  selection.passes = values.Range("pass");
  selection.layer = values.Text("layer");
  selection.module = values.Text("module");
  selection.from_ns = values.Number("from");
  selection.to_ns = values.Number("to");
  return selection;
}

render::Format FormatOf(const OptionValues& values, render::Format fallback) {
  const size_t choice = values.Choice("format").value_or(static_cast<size_t>(fallback));
  // What a verb has beyond these (compute-flow) is a table.
  return choice < FormatNames().size() ? static_cast<render::Format>(choice)
                                       : render::Format::kTable;
}

analysis::Presentation PresentationOf(const OptionValues& values) {
  analysis::Presentation presentation;
  const render::Format format = FormatOf(values);
  presentation.for_people = format == render::Format::kTable || format == render::Format::kMarkdown;
  presentation.rows = values.Number("rows");
  presentation.sort = values.TextOr("sort", {});
  presentation.verbose = values.Flag("verbose");
  return presentation;
}

const std::vector<std::string>& FormatNames() {
  static const std::vector<std::string> kNames = {"table", "json", "csv", "markdown"};
  return kNames;
}

const std::vector<OptionSpec>& CommonOptions() {
  static const std::vector<OptionSpec> kOptions = [] {
    std::vector<OptionSpec> options = OutputOptions();
    std::vector<OptionSpec> run = RunOptions();
    options.insert(options.end(), run.begin(), run.end());
    return options;
  }();
  return kOptions;
}

}  // namespace layerscope::session
