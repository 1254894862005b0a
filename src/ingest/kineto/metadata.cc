#include "src/ingest/kineto/metadata.h"

#include <optional>

#include "src/json/document.h"

namespace layerscope::ingest::kineto {
namespace {

std::string_view WithoutSpaceAndCommas(std::string_view text) {
  constexpr std::string_view kSkipped = " \t\r\n,";
  const size_t first = text.find_first_not_of(kSkipped);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSkipped) - first + 1);
}

void ReadDevices(const json::Node& list, trace::Metadata& metadata) {
  for (const json::Node& item : list.items()) {
    trace::Metadata::DeviceProperties device;
    if (const json::Node* id = item.Find("id")) device.id = id->AsInt().value_or(-1);
    if (const json::Node* name = item.Find("name")) {
      device.name = std::string(name->AsString().value_or(""));
    }
    metadata.devices.push_back(std::move(device));
  }
}

void ReadDistributed(const json::Node& node, trace::Metadata& metadata) {
  if (const json::Node* rank = node.Find("rank")) metadata.rank = rank->AsInt();
  if (const json::Node* size = node.Find("world_size")) metadata.world_size = size->AsInt();
  if (const json::Node* backend = node.Find("backend")) {
    metadata.backend = std::string(backend->AsString().value_or(""));
  }
}

/// `{"processes": [{"pid": 7, "rank": 1}]}`
void ReadProcessRanks(const json::Node& node, std::map<std::string, int64_t>& ranks) {
  const json::Node* processes = node.Find("processes");
  if (processes == nullptr) return;
  for (const json::Node& item : processes->items()) {
    const json::Node* pid = item.Find("pid");
    const json::Node* rank = item.Find("rank");
    if (pid == nullptr || rank == nullptr || rank->AsInt().value_or(-1) < 0) continue;
    const std::optional<int64_t> number = pid->AsInt();
    ranks[number ? std::to_string(*number) : std::string(pid->AsString().value_or(""))] =
        *rank->AsInt();
  }
}

bool IsSet(const json::Node& root, std::string_view key) {
  const json::Node* node = root.Find(key);
  return node != nullptr && (node->AsInt().value_or(0) != 0 || node->AsBool().value_or(false));
}

void ReadMembers(const json::Node& root, trace::Metadata& metadata) {
  for (const std::string_view key : {"deviceProperties", "computeProperties"}) {
    const json::Node* devices = root.Find(key);
    if (devices != nullptr && metadata.devices.empty()) ReadDevices(*devices, metadata);
  }
  if (const json::Node* node = root.Find("distributedInfo")) ReadDistributed(*node, metadata);
  if (const json::Node* version = root.Find("vllm_version")) {
    metadata.vllm_version = std::string(version->AsString().value_or(""));
  }
  metadata.with_stack |= IsSet(root, "with_stack");
  metadata.record_shapes |= IsSet(root, "record_shapes");
}

/// One part on its own, so that a damaged tail does not lose the head.
bool ReadPart(std::string_view members, trace::Metadata& metadata, MetadataOutcome& outcome) {
  const std::string_view text = WithoutSpaceAndCommas(members);
  if (text.empty()) return true;
  std::string document = "{";
  document += text;
  document += '}';
  auto root = json::ParseDocument(document);
  if (!root.ok()) return false;
  outcome.is_viztracer |= root->Find("viztracer_metadata") != nullptr;
  outcome.has_second_list |= root->Find("traceEvents") != nullptr;
  if (const json::Node* own = root->Find("layerscope")) {
    ReadProcessRanks(*own, outcome.process_ranks);
  }
  ReadMembers(*root, metadata);
  return true;
}

}  // namespace

MetadataOutcome ReadMetadata(const MetadataText& text, trace::Metadata& metadata) {
  MetadataOutcome outcome;
  std::string_view after = WithoutSpaceAndCommas(text.after);
  if (!after.empty() && after.back() == '}') after.remove_suffix(1);
  outcome.readable = ReadPart(text.before, metadata, outcome);
  outcome.readable &= ReadPart(after, metadata, outcome);
  return outcome;
}

}  // namespace layerscope::ingest::kineto
