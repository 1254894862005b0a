#include "bench/gen/replay_options.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <variant>

namespace layerscope::gen {
namespace {

struct Choice {
  uint8_t* value;
  std::vector<std::string_view> words;
};

struct Entry {
  std::string_view name;
  std::variant<bool*, int64_t*, uint64_t*, std::string*, std::vector<int64_t>*, Choice> target;
  std::string_view help;
};

template <typename Enum>
Choice Words(Enum* value, std::vector<std::string_view> words) {
  static_assert(sizeof(Enum) == 1);
  return {reinterpret_cast<uint8_t*>(value), std::move(words)};
}

std::vector<Entry> EntriesOf(ReplayOptions* o) {
  return {
      {"output", &o->output, "directory"},
      {"seed", &o->seed, "the same seed gives the same bytes"},
      {"family", Words(&o->family, {"dense", "moe"}), "the model"},
      {"layers", &o->layers, "decoder layers"},
      {"batches", &o->batches, "captured sizes, comma between"},
      {"serve", &o->serve, "requests of the passes, in turn; padded up to a captured size"},
      {"passes", &o->passes, "decode steps"},
      {"launch", Words(&o->launch, {"full", "piecewise"}),
       "one graph, or attention between pieces"},
      {"vendor", Words(&o->vendor, {"rocm", "cuda"}), "rocm: captured calls name their kernels"},
      {"steps", Words(&o->steps, {"sglang", "vllm", "none"}), "annotations of steps"},
      {"scope", Words(&o->scope, {"none", "wrapper", "model"}), "module scope around launches"},
      {"tiles-by-batch", &o->tiles_by_batch, "GEMMs of another batch have other names"},
      {"branches", Words(&o->branches, {"none", "own", "shared"}),
       "a branch on a side stream, with kernel names of its own or the main one's"},
      {"copies", Words(&o->copies, {"none", "kernel", "memcpy", "lost"}),
       "copies inside the graph and how the replay shows them"},
      {"lose", &o->lose, "kernels of each replay that are not recorded"},
      {"lose-apart", &o->lose_apart, "each replay loses others, not two in turn the same"},
      {"extra", &o->extra, "kernels of each replay that were not captured"},
      {"burst", &o->burst, "all kernels of a launch have one time stamp"},
      {"skip-pieces", &o->skip_pieces, "the window begins after so many pieces"},
      {"draft", Words(&o->draft, {"none", "one-step", "two-steps"}), "a draft model's graph too"},
      {"ranks", &o->ranks, "processes with a GPU each"},
      {"one-capture-file", &o->one_capture_file, "all sizes in one file a rank"},
      {"capture-thread", &o->capture_thread, "captured on another thread"},
      {"compiled", &o->compiled, "scopes end at one GraphModule"},
      {"graph-nodes", &o->graph_nodes, "replayed kernels carry graph node ids"},
      {"node-base", &o->node_base, "added to all graph node ids"},
      {"eager-batch", &o->eager_batch, "requests of the eager twin (0: the first captured size)"},
      {"vision", &o->vision, "the model has a vision tower"},
      {"truth", &o->truth, "write what is true of the traces"},
  };
}

template <typename Int>
bool ParseNumber(std::string_view text, Int* value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return code == std::errc() && end == text.data() + text.size();
}

bool ParseNumbers(std::string_view text, std::vector<int64_t>* values) {
  values->clear();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (!ParseNumber(text.substr(0, comma), &values->emplace_back())) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return !values->empty();
}

bool SetValue(const Entry& entry, std::string_view text) {
  if (auto* number = std::get_if<int64_t*>(&entry.target)) return ParseNumber(text, *number);
  if (auto* number = std::get_if<uint64_t*>(&entry.target)) return ParseNumber(text, *number);
  if (auto* numbers = std::get_if<std::vector<int64_t>*>(&entry.target))
    return ParseNumbers(text, *numbers);
  if (auto* choice = std::get_if<Choice>(&entry.target)) {
    const auto found = std::find(choice->words.begin(), choice->words.end(), text);
    *choice->value = static_cast<uint8_t>(found - choice->words.begin());
    return found != choice->words.end();
  }
  *std::get<std::string*>(entry.target) = std::string(text);
  return true;
}

bool Check(const ReplayOptions& o, std::string* error) {
  const int64_t largest = *std::max_element(o.batches.begin(), o.batches.end());
  const auto bad = [](int64_t n) { return n < 1; };
  if (o.output.empty()) {
    *error = "--output DIRECTORY is needed";
  } else if (o.layers < 1 || o.passes < 1 || o.ranks < 1 || o.lose < 0 || o.extra < 0 ||
             std::any_of(o.batches.begin(), o.batches.end(), bad) ||
             std::any_of(o.serve.begin(), o.serve.end(), bad)) {
    *error = "sizes and counts must be at least 1";
  } else if (*std::max_element(o.serve.begin(), o.serve.end()) > largest) {
    *error = "--serve: no captured size is large enough";
  } else {
    return true;
  }
  return false;
}

}  // namespace

bool ParseReplayOptions(const std::vector<std::string>& arguments, ReplayOptions* options,
                        std::string* error) {
  const std::vector<Entry> entries = EntriesOf(options);
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i] == "-o" ? "--output" : std::string_view(arguments[i]);
    const bool negated = word.substr(0, 5) == "--no-";
    word.remove_prefix(std::min<size_t>(word.size(), negated ? 5 : 2));
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [word](const Entry& e) { return e.name == word; });
    auto* const flag = entry == entries.end() ? nullptr : std::get_if<bool*>(&entry->target);
    if (entry == entries.end() || (negated && flag == nullptr)) {
      *error = "unknown option " + arguments[i] + "; see serve --help";
      return false;
    }
    if (flag != nullptr) {
      **flag = !negated;
    } else if (++i == arguments.size() || !SetValue(*entry, arguments[i])) {
      *error = "bad or missing value after " + std::string(word) + "; see serve --help";
      return false;
    }
  }
  return Check(*options, error);
}

std::string ReplayHelpText() {
  ReplayOptions defaults;
  std::string text =
      "layerscope-gen serve: writes a run whose decode steps replay graphs, the traces of the\n"
      "graphs' capture, an eager run of the same model, graph annotations and a model tree\n"
      "usage: layerscope-gen serve -o DIRECTORY [options]\n"
      "       layerscope-gen requests -o DIRECTORY [options]: three requests traced eagerly\n\n";
  for (const Entry& entry : EntriesOf(&defaults)) {
    std::string line = "  --" + std::string(entry.name);
    if (auto* choice = std::get_if<Choice>(&entry.target)) {
      for (size_t i = 0; i < choice->words.size(); ++i)
        line += (i == 0 ? " " : "|") + std::string(choice->words[i]);
    }
    line.resize(line.size() < 34 ? 34 : line.size() + 2, ' ');
    text += line + std::string(entry.help) + "\n";
  }
  return text;
}

}  // namespace layerscope::gen
