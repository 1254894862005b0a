#include "bench/gen/replay_options.h"

#include <algorithm>

#include "bench/gen/option_table.h"

namespace layerscope::gen {
namespace {

std::vector<OptionEntry> EntriesOf(ReplayOptions* o) {
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
  return ParseEntries(EntriesOf(options), "serve", arguments, error) && Check(*options, error);
}

std::string ReplayHelpText() {
  ReplayOptions defaults;
  return "layerscope-gen serve: writes a run whose decode steps replay graphs, the traces of the\n"
         "graphs' capture, an eager run of the same model, graph annotations and a model tree\n"
         "usage: layerscope-gen serve -o DIRECTORY [options]\n"
         "       layerscope-gen requests -o DIRECTORY [options]: three requests traced "
         "eagerly\n\n" +
         EntriesHelp(EntriesOf(&defaults));
}

}  // namespace layerscope::gen
