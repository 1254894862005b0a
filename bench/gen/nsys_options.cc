#include "bench/gen/nsys_options.h"

#include <algorithm>

#include "bench/gen/option_table.h"

namespace layerscope::gen {
namespace {

std::vector<OptionEntry> RunEntries(NsysOptions* o) {
  return {
      {"output", &o->output, "the database"},
      {"kineto", &o->kineto, "directory for the same run as Kineto traces, one a rank"},
      {"annotations", &o->annotations, "directory for graph annotations of those traces"},
      {"truth", &o->truth, "file for what is true of the run"},
      {"seed", &o->seed, "the same seed gives the same rows"},
      {"schema", Words(&o->schema, {"2022.2", "2023.3", "2024.5", "2025.5", "2026.2"}),
       "version of the export"},
      {"ranks", &o->ranks, "processes with a GPU each"},
      {"equal-ids", &o->equal_ids, "processes count correlations and nodes from the same number"},
      {"one-device", &o->one_device, "each process calls its GPU device 0"},
      {"one-gpu", &o->one_gpu, "all processes run on one GPU, whatever they call it"},
      {"layers", &o->layers, "decoder layers"},
      {"batches", &o->batches, "requests of the sweep, comma between"},
      {"pasts", &o->pasts, "past lengths of the sweep, comma between"},
      {"steps", &o->steps, "decode steps of each batch and past length"},
      {"prefill", &o->prefill, "an eager prefill step before them"},
      {"repeat", &o->repeat, "run the sweep so often"},
      {"kernels", &o->kernels, "run the sweep up to so many kernels (500K, 10M)"},
      {"launch", Words(&o->launch, {"eager", "nodes", "whole"}),
       "decode: eager, graphs recorded node by node, or as a whole"},
      {"capture-thread", &o->capture_thread, "another thread captures the graphs"},
      {"launch-scope", &o->launch_scope, "a module's range is open around graph launches"},
      {"sampler-outside", &o->sampler_outside, "the sampler lies outside of every module"},
      {"graph-copies", &o->graph_copies, "graphs copy and set memory"},
      {"all-reduce", &o->all_reduce, "two all-reduces a layer"},
      {"comm-stream", &o->comm_stream, "all-reduces run on a stream of their own"},
      {"branches", &o->branches, "side streams that attention forks to"},
      {"pdl", &o->dependent_launch, "norms start while their predecessor drains"},
      {"second-thread", &o->second_thread, "a helper thread launches too"},
      {"run-ahead", &o->run_ahead, "the host waits for the GPU every fourth step only"},
      {"launch-gap", &o->launch_gap, "ns of one in each eager step (-1: by chance)"},
      {"host-wait", &o->host_wait, "ns of one in each eager step (-1: by chance)"},
      {"queued-gap", &o->queued_gap, "ns of one in each step (-1: by chance)"},
      {"comm-work", &o->comm_work, "ns of an all-reduce"},
  };
}

std::vector<OptionEntry> RecordingEntries(NsysOptions* o) {
  return {
      {"markers", Words(&o->markers, {"none", "bench", "vllm", "both", "sglang", "trtllm"}),
       "ranges around steps"},
      {"quotes", Words(&o->quotes, {"single", "double", "colon", "plain"}),
       "modules: {'Module': 'path'}, {\"Module\": …}, Module:path, or the name below the parent"},
      {"further-keys", &o->further_keys, "the dictionaries have more keys"},
      {"outputs", &o->outputs, "an empty range with 'Outputs' after each module"},
      {"ops", &o->ops, "ranges of emit_nvtx: `aten::mm, seq = 7, op_id = 12`"},
      {"registered", &o->registered, "every second text is a registered string"},
      {"start-end", &o->start_end, "every third module is a start/end range"},
      {"domains", &o->domains, "NCCL and user ranges in domains of their own"},
      {"open-ranges", &o->open_ranges, "the capture ends inside the last step"},
      {"orphans", &o->orphans, "kernels at the start whose launches were not seen"},
      {"drop-calls", &o->drop_calls, "of 10,000 eager launch calls, lose these"},
      {"clones", &o->clones, "links from a replayed node to the captured one"},
      {"instantiations", &o->instantiations, "rows of each clone"},
      {"destructions", &o->destructions, "rows of nodes' destruction"},
      {"creation-names", &o->creation_names, "rows of nodes say what happened"},
      {"lost-nodes", &o->lost_nodes, "nodes of each graph that have no row"},
      {"gpu-info", &o->gpu_info, "tables about the GPU"},
      {"shuffle", &o->shuffle, "rows of a step are in no order"},
  };
}

std::vector<OptionEntry> EntriesOf(NsysOptions* options) {
  std::vector<OptionEntry> entries = RunEntries(options);
  for (const OptionEntry& entry : RecordingEntries(options)) entries.push_back(entry);
  return entries;
}

bool Check(const NsysOptions& o, std::string* error) {
  const auto bad = [](int64_t n) { return n < 1; };
  if (o.output.empty() && o.kineto.empty()) {
    *error = "--output FILE or --kineto DIRECTORY is needed";
  } else if (o.layers < 1 || o.steps < 1 || o.ranks < 1 || o.repeat < 1 || o.clones < 0 ||
             o.instantiations < 1 || o.branches < 0 || o.lost_nodes < 0 ||
             std::any_of(o.batches.begin(), o.batches.end(), bad) ||
             std::any_of(o.pasts.begin(), o.pasts.end(), bad)) {
    *error = "sizes and counts must be at least 1";
  } else if (o.open_ranges && !o.kineto.empty()) {
    *error = "--open-ranges: a Kineto trace has none";
  } else {
    return true;
  }
  return false;
}

}  // namespace

bool ParseNsysOptions(const std::vector<std::string>& arguments, NsysOptions* options,
                      std::string* error) {
  return ParseEntries(EntriesOf(options), "nsys", arguments, error) && Check(*options, error);
}

std::string NsysHelpText() {
  NsysOptions defaults;
  return "layerscope-gen nsys: writes a run as an Nsight Systems database, as Kineto traces, and\n"
         "what is true of it\n"
         "usage: layerscope-gen nsys [-o FILE] [--kineto DIRECTORY] [--truth FILE] [options]\n\n" +
         EntriesHelp(EntriesOf(&defaults));
}

}  // namespace layerscope::gen
