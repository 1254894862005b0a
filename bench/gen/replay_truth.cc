#include "bench/gen/replay_truth.h"

#include <map>

#include "bench/gen/json_text.h"

namespace layerscope::gen {
namespace {

struct Sum {
  int64_t n = 0;
  int64_t ns = 0;
};

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? "" : "/") += name;
  return text;
}

void AppendNames(std::string_view key, const std::vector<std::string>& names, JsonText& json) {
  json.Key(key).Array();
  for (const std::string& name : names) json.String(name);
  json.EndArray();
}

void AppendActivity(const ReplayActivity& a, JsonText& json) {
  json.Line(2).Object().Key("kind").String(a.kind).Key("name").String(a.name);
  json.Key("stream").Int(a.stream).Key("start_ns").Int(a.start_ns);
  json.Key("duration_ns").Int(a.duration_ns).Key("graph").Int(a.graph);
  json.Key("launch").Int(a.launch).Key("pass").Int(a.pass);
  AppendNames("modules", a.modules, json);
  AppendNames("around", a.around, json);
  json.Key("path");
  if (a.has_path) {
    json.String(a.path);
  } else {
    json.Raw("null");
  }
  json.Key("op").String(a.op).Key("unplaced").Raw(a.unplaced ? "true" : "false");
  json.Key("uncertain").Raw(a.uncertain ? "true" : "false").EndObject();
}

void AppendGraph(const ReplayedGraph& g, JsonText& json) {
  json.Line(2).Object().Key("batch").Int(g.batch).Key("capture").String(g.capture);
  json.Key("mode").String(g.mode).Key("launches").Int(g.launches).Key("pieces").Int(g.pieces);
  json.Key("nodes").Int(g.nodes).Key("replayed").Int(g.replayed).Key("served").Array();
  for (const int64_t requests : g.served) json.Int(requests);
  json.EndArray().EndObject();
}

void AppendSums(std::string_view key, const std::map<std::string, Sum>& sums, JsonText& json) {
  json.Line(1).Key(key).Object();
  for (const auto& [name, sum] : sums) {
    json.Line(2).Key(name).Object().Key("n").Int(sum.n).Key("ns").Int(sum.ns).EndObject();
  }
  json.Line(1).EndObject();
}

void Add(std::map<std::string, Sum>& sums, const std::string& key, int64_t ns) {
  Sum& sum = sums[key];
  ++sum.n;
  sum.ns += ns;
}

}  // namespace

std::string RenderReplayTruth(const ReplayTruth& truth) {
  std::string text;
  JsonText json(&text, Layout::kTorch);
  std::map<std::string, Sum> modules, paths, ops;
  json.Object().Line(1).Key("activities").Array();
  for (const ReplayActivity& activity : truth.activities) {
    AppendActivity(activity, json);
    if (!activity.modules.empty()) Add(modules, Joined(activity.modules), activity.duration_ns);
    if (activity.has_path) Add(paths, activity.path, activity.duration_ns);
    if (!activity.op.empty()) Add(ops, activity.op, activity.duration_ns);
  }
  json.Line(1).EndArray().Line(1).Key("graphs").Array();
  for (const ReplayedGraph& graph : truth.graphs) AppendGraph(graph, json);
  json.Line(1).EndArray();
  // GPU time by innermost module, by path and by innermost op, over all activities that have one.
  AppendSums("modules", modules, json);
  AppendSums("paths", paths, json);
  AppendSums("ops", ops, json);
  json.Line(0).EndObject();
  return text + "\n";
}

}  // namespace layerscope::gen
