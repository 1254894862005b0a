#include "bench/gen/options.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <variant>

#include "bench/gen/family.h"

namespace layerscope::gen {
namespace {

using Names = std::vector<std::string_view>;

// An enumeration option: its words stand in the order of the enum's values.
struct Choice {
  uint8_t* value;
  Names words;
};

struct Entry {
  std::string_view name;
  std::variant<bool*, int64_t*, uint64_t*, std::string*, Choice> target;
  std::string_view help;
};

template <typename Enum>
Choice Words(Enum* value, Names words) {
  static_assert(sizeof(Enum) == 1);
  return {reinterpret_cast<uint8_t*>(value), std::move(words)};
}

std::vector<Entry> ModelEntries(Options* o) {
  return {
      {"seed", &o->seed, "the same seed gives the same bytes"},
      {"output", &o->output, "trace file, a directory with --ranks, - for stdout"},
      {"truth", &o->truth, "file for the true attribution (with --ranks: beside each trace)"},
      {"layers", &o->layers, "decoder layers"},
      {"hidden", &o->hidden, "hidden size"},
      {"heads", &o->heads, "attention heads"},
      {"kv-heads", &o->kv_heads, "key/value heads"},
      {"head-dim", &o->head_dim, "size of a head"},
      {"intermediate", &o->intermediate, "size of the MLP"},
      {"vocab", &o->vocab, "vocabulary"},
      {"tp", &o->tp, "tensor parallel size (all-reduces from 2)"},
      {"passes", &o->passes, "forward passes"},
      {"repeat", &o->repeat, "write the passes this often, in constant memory"},
      {"target-bytes", &o->target_bytes, "add passes up to this size (500M, 2G)"},
      {"events", &o->target_events, "add passes up to this number of events"},
      {"prefill-every", &o->prefill_every, "every n-th pass is a prefill (0: the first)"},
      {"prompt", &o->prompt_tokens, "tokens of a prefill"},
      {"requests", &o->requests, "requests of a decode pass"},
      {"mixed", &o->mixed, "prefill passes also decode"},
      {"eager-decodes", &o->eager_decodes, "decodes run eagerly before graphs are replayed"},
  };
}

std::vector<Entry> RecordingEntries(Options* o) {
  return {
      {"modules", &o->modules, "record nn.Module scopes"},
      {"stacks", &o->stacks, "record Python frames"},
      {"shapes", &o->shapes, "record input shapes of ops"},
      {"memory", &o->memory_events, "record [memory] instants"},
      {"flows", &o->flows, "record ac2g flows"},
      {"cpu-only", &o->cpu_only, "a trace of a machine without a GPU"},
      {"sampler-outside", &o->sampler_outside, "the sampler runs after the step's annotation"},
      {"annotations", &o->annotations, "vLLM's inner annotations (gpu_model_runner: forward, ...)"},
      {"launch", Words(&o->launch, {"eager", "graph", "piecewise"}), "how decode passes launch"},
      {"graph-in-scope", &o->graph_in_scope, "graph launches lie inside a module scope"},
      {"steps", Words(&o->steps, {"none", "profiler", "vllm-old", "vllm-sq", "vllm", "sglang"}),
       "naming of steps"},
      {"side-streams", &o->side_streams, "streams beside the main one"},
      {"pdl", &o->dependent_launch, "dependent launches: kernels of a stream overlap"},
      {"partial-first", &o->partial_first, "kernels at the start whose launches were not seen"},
      {"captures", &o->captures, "graph captures at the start: calls whose kernels do not run"},
      {"threads", &o->threads, "threads that launch"},
      {"drop-activities", &o->drop_activities, "of 10,000 launched activities, lose these"},
      {"drop-launches", &o->drop_launches, "of 10,000 launching calls, lose these"},
      {"external-id-is-correlation", &o->external_id_is_correlation,
       "activities carry their correlation as External id"},
      {"odd-names", &o->odd_names, "names with quotes, backslashes, UTF-8, mangling"},
      {"frames-per-kernel", &o->frames_per_kernel, "pad Python frames to n/100 a kernel"},
      {"ops-per-kernel", &o->ops_per_kernel, "pad ops to n/100 a kernel"},
      {"calls-per-kernel", &o->calls_per_kernel, "pad runtime calls to n/100 a kernel"},
  };
}

std::vector<Entry> FamilyEntries(Options* o) {
  return {
      {"family", &o->family, "a model of this family, with its layers as truth (see below)"},
      {"config", &o->config, "file for the family's config.json, where it has one"},
      {"pattern", &o->pattern, "letters of layer forms, repeated (bench/gen/README.md)"},
      {"ambiguous",
       Words(&o->ambiguous,
             {"none", "post_norm", "longcat_one_stream", "alternating", "halves", "one_layer"}),
       "a sequence that has two readings"},
      {"amd", &o->amd, "the dense model on an MI300X"},
      {"inductor", &o->inductor, "norms and activations are kernels of torch.compile"},
      {"fused-allreduce", &o->fused_all_reduce, "all-reduces are fused with the norm after them"},
      {"cold", &o->cold, "layer 0 of the first n decodes is much slower"},
      {"foreign", &o->foreign, "kernels a pass launched outside the step on another stream"},
      {"layer-copies", &o->layer_copies, "eager passes copy inside every fourth layer"},
      {"comm-stream", &o->comm_stream, "all-reduces run on the side stream"},
      {"gpu-only", &o->gpu_only, "nothing of the host is recorded"},
      {"draft", &o->draft, "speculative steps: a draft layer, then the target verifies"},
      {"micro-batches", &o->micro_batches, "two passes interleaved on two streams in each step"},
      {"partial-last", &o->partial_last, "the window ends after n kernels of the last pass"},
      {"together", Words(&o->together, {"none", "devices", "processes", "ranks"}),
       "two of these in one file"},
      {"residue", &o->residue, "anchors too many (1) or too few (-1) in one whole pass"},
      {"neutral", Words(&o->neutral, {"nothing", "norm", "mixer", "gemm", "ffn"}),
       "names of these kernels say nothing"},
      {"expect", Words(&o->expect, {"by-options", "exact", "abstain", "reject"}),
       "what the truth says a reader should do"},
  };
}

std::vector<Entry> DocumentEntries(Options* o) {
  return {
      {"ranks", &o->ranks, "write rank files of one run into the directory --output"},
      {"missing-rank", &o->missing_rank, "leave this rank's file out"},
      {"old", &o->old_format, "categories of 2021 (Operator, Kernel, Runtime)"},
      {"bare-array", &o->bare_array, "the document is the array of events"},
      {"trailing-comma", &o->trailing_comma, "with --bare-array: ends `,` without `]`"},
      {"string-tids", &o->string_tids, "streams are written as \"stream 7\""},
      {"layout", Words(&o->layout, {"torch", "torch-lines", "compact", "indent"}), "white space"},
      {"order", Words(&o->order, {"pass", "file", "shuffle"}), "order of the events"},
      {"field-order", Words(&o->field_order, {"torch", "sorted", "args-first", "random"}),
       "order of an event's fields"},
      {"times", Words(&o->times, {"ns", "trimmed", "string"}), "text of times"},
      {"start-ns", &o->start_ns, "time of the first event"},
  };
}

std::vector<Entry> AllEntries(Options* options) {
  std::vector<Entry> all = ModelEntries(options);
  for (auto more : {RecordingEntries(options), FamilyEntries(options), DocumentEntries(options)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

template <typename Int>
bool ParseNumber(std::string_view text, Int* value) {
  Int scale = 1;
  if (!text.empty()) {
    const std::string_view units = "KMG";
    const size_t unit = units.find(text.back());
    if (unit != std::string_view::npos) {
      for (size_t i = 0; i <= unit; ++i) scale *= 1000;
      text.remove_suffix(1);
    }
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (code != std::errc() || end != text.data() + text.size()) return false;
  *value *= scale;
  return true;
}

bool SetChoice(const Choice& choice, std::string_view text) {
  for (size_t i = 0; i < choice.words.size(); ++i) {
    if (choice.words[i] != text) continue;
    *choice.value = static_cast<uint8_t>(i);
    return true;
  }
  return false;
}

bool SetValue(const Entry& entry, std::string_view text) {
  if (auto* number = std::get_if<int64_t*>(&entry.target)) return ParseNumber(text, *number);
  if (auto* number = std::get_if<uint64_t*>(&entry.target)) return ParseNumber(text, *number);
  if (auto* choice = std::get_if<Choice>(&entry.target)) return SetChoice(*choice, text);
  *std::get<std::string*>(entry.target) = std::string(text);
  return true;
}

// The entry that `--word` or `--no-word` names; `negated` says which.
const Entry* Find(const std::vector<Entry>& entries, std::string_view word, bool* negated) {
  for (const Entry& entry : entries) {
    *negated = false;
    if (entry.name == word) return &entry;
    *negated = true;
    const bool is_switch = std::holds_alternative<bool*>(entry.target);
    if (is_switch && word.substr(0, 3) == "no-" && word.substr(3) == entry.name) return &entry;
  }
  return nullptr;
}

bool KnowsForms(const Family& family, std::string_view letters) {
  return std::all_of(letters.begin(), letters.end(), [&family](char letter) {
    return std::any_of(family.forms.begin(), family.forms.end(),
                       [letter](const Form& form) { return form.letter == letter; });
  });
}

// What only some combinations have.
bool CheckFamilyOptions(const Options& o, std::string* error) {
  if (!o.family.empty() && FindFamily(o.family) == nullptr) {
    *error = "no family " + o.family + "; see --help";
  } else if (o.amd && o.family != "dense") {
    *error = "--amd needs --family dense";
  } else if (!o.pattern.empty() && !KnowsForms(ChosenFamily(o), o.pattern)) {
    *error = "--pattern has a letter that the family has no form for; see bench/gen/README.md";
  } else if (!o.config.empty() && !o.UsesFamily()) {
    *error = "--config needs --family";
  } else if (o.draft && o.micro_batches) {
    *error = "--draft and --micro-batches exclude each other";
  } else if (o.micro_batches && o.launch != LaunchMode::kEager) {
    *error = "--micro-batches needs --launch eager";
  } else if (o.residue < -1 || o.residue > 1) {
    *error = "--residue is -1, 0 or 1";
  } else if (o.UsesFamily() && (o.cpu_only || o.ranks > 0)) {
    *error = "--family excludes --cpu-only and --ranks";
  } else {
    return true;
  }
  return false;
}

// Values that follow from others.
void Complete(Options* o) {
  if (o->ambiguous == Ambiguity::kOneLayer) o->layers = 1;
  if (!o->UsesFamily() && o->layers == 0) o->layers = 36;
  if (o->gpu_only) {
    o->steps = StepNaming::kNone;
    o->modules = o->stacks = o->flows = false;
  }
  if (o->draft) o->steps = StepNaming::kSglang;
}

bool CheckOptions(const Options& o, std::string* error) {
  if (!CheckFamilyOptions(o, error)) return false;
  if ((!o.UsesFamily() && o.layers < 1) || o.layers < 0 || o.passes < 1 || o.requests < 1 ||
      o.prompt_tokens < 1 || o.tp < 1) {
    *error = "--layers, --passes, --requests, --prompt and --tp must be at least 1";
  } else if (o.ranks > 0 && o.output == "-") {
    *error = "--ranks needs --output DIRECTORY";
  } else if (o.trailing_comma && !o.bare_array) {
    *error = "--trailing-comma needs --bare-array";
  } else {
    return true;
  }
  return false;
}

}  // namespace

bool ParseOptions(const std::vector<std::string>& arguments, Options* options, std::string* error) {
  const std::vector<Entry> entries = AllEntries(options);
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (word == "-o") word = "--output";
    bool negated = false;
    const Entry* entry =
        word.substr(0, 2) == "--" ? Find(entries, word.substr(2), &negated) : nullptr;
    if (entry == nullptr) {
      *error = "unknown option " + std::string(word) + "; see --help";
      return false;
    }
    if (auto* flag = std::get_if<bool*>(&entry->target)) {
      **flag = !negated;
    } else if (++i == arguments.size() || !SetValue(*entry, arguments[i])) {
      *error = "bad or missing value after " + std::string(word) + "; see --help";
      return false;
    }
  }
  Complete(options);
  return CheckOptions(*options, error);
}

std::string HelpText() {
  Options defaults;
  std::string text =
      "layerscope-gen: writes a Kineto trace and what is true of it\n"
      "usage: layerscope-gen [-o FILE] [--truth FILE] [options]\n\n";
  for (const Entry& entry : AllEntries(&defaults)) {
    std::string line = "  --" + std::string(entry.name);
    if (std::holds_alternative<std::string*>(entry.target)) line += " TEXT";
    if (std::holds_alternative<int64_t*>(entry.target)) line += " N";
    if (std::holds_alternative<uint64_t*>(entry.target)) line += " N";
    if (auto* choice = std::get_if<Choice>(&entry.target)) {
      for (size_t i = 0; i < choice->words.size(); ++i)
        line += (i == 0 ? " " : "|") + std::string(choice->words[i]);
    }
    line.resize(line.size() < 34 ? 34 : line.size() + 2, ' ');
    text += line + std::string(entry.help) + "\n";
  }
  text += "Switches also take --no-NAME.\nFamilies:";
  for (const std::string_view name : FamilyNames()) (text += ' ') += name;
  return text + "\n";
}

}  // namespace layerscope::gen
