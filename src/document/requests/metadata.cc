#include "src/document/requests/metadata.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "src/io/small_file.h"
#include "src/json/document.h"

namespace layerscope::document {
namespace {

constexpr std::string_view kSchema = "layerscope/requests/1";
constexpr std::string_view kSchemaFamily = "layerscope/requests/";
/// Half a million requests; recordings of single requests are a handful.
constexpr size_t kMaxMetadataBytes = size_t{64} << 20;
constexpr const char* kHint =
    "it is {\"schema\": \"layerscope/requests/1\", \"requests\": [{\"file\": …}]}; without the "
    "file "
    "requests have no labels";

base::Error Invalid(const std::string& path, const std::string& what) {
  return {base::ErrorCode::kInvalidInput, fmt::format("{}: {}", path, what), kHint};
}

std::string TextOf(const json::Node& node, std::string_view key) {
  const json::Node* const value = node.Find(key);
  return value == nullptr ? std::string() : std::string(value->AsString().value_or(""));
}

std::optional<int64_t> IntOf(const json::Node& node, std::string_view key) {
  const json::Node* const value = node.Find(key);
  return value == nullptr ? std::nullopt : value->AsInt();
}

/// What is wrong with single entries, by kind.
struct Faults {
  int64_t without_file = 0;
  int64_t twice = 0;
  int64_t labels = 0;
  std::string first_twice, first_label;
  std::string mode;  ///< one that does not exist
};

RequestEntry EntryOf(const json::Node& node, Faults& faults) {
  RequestEntry entry;
  entry.file = TextOf(node, "file");
  const std::string label = TextOf(node, "label");
  if (label == "Fast" || label == "Typical" || label == "Slow") {
    entry.label = label;
  } else if (!label.empty()) {
    if (faults.labels++ == 0) faults.first_label = label;
  }
  if (const json::Node* const value = node.Find("percentile")) entry.percentile = value->AsDouble();
  entry.prompt_tokens = IntOf(node, "prompt_tokens");
  entry.output_tokens = IntOf(node, "output_tokens");
  entry.latency_ns = IntOf(node, "latency_ns");
  entry.source_index = IntOf(node, "source_index");
  return entry;
}

std::vector<table::HealthEntry> HealthOf(const Faults& faults, const std::string& path) {
  std::vector<table::HealthEntry> health;
  const auto add = [&](int64_t count, std::string what) {
    if (count == 0) return;
    health.push_back(
        {"request_metadata", table::Severity::kWarning, count, fmt::format("{}: {}.", path, what)});
  };
  add(faults.without_file, "entries that name no file are left out");
  add(faults.twice,
      fmt::format("a file is named again ({}); the first entry is used", faults.first_twice));
  add(faults.labels,
      fmt::format("unknown label '{}'; use Fast, Typical or Slow", faults.first_label));
  add(faults.mode.empty() ? 0 : 1,
      fmt::format("its mode is '{}', neither eager nor compiled, and is dropped", faults.mode));
  return health;
}

}  // namespace

base::Result<RequestMetadata> ParseRequestMetadata(std::string_view text, const std::string& path) {
  base::Result<json::Node> root = json::ParseDocument(text);
  if (!root.ok()) return Invalid(path, "this is no JSON: " + root.error().message);
  const json::Node* const requests = root->Find("requests");
  if (requests == nullptr || !requests->IsArray()) {
    return Invalid(path, "there is no list 'requests' in it");
  }
  const std::string schema = TextOf(*root, "schema");
  if (schema.starts_with(kSchemaFamily) && schema != kSchema) {
    return Invalid(path, fmt::format("its schema is '{}'; layerscope reads '{}'", schema, kSchema));
  }
  RequestMetadata metadata;
  metadata.path = path;
  metadata.model = TextOf(*root, "model");
  metadata.engine = TextOf(*root, "engine");
  Faults faults;
  metadata.mode = TextOf(*root, "mode");
  if (metadata.mode != "eager" && metadata.mode != "compiled") {
    faults.mode = std::exchange(metadata.mode, {});
  }
  std::set<std::string> seen;
  for (const json::Node& node : requests->items()) {
    RequestEntry entry = EntryOf(node, faults);
    if (entry.file.empty()) {
      ++faults.without_file;
    } else if (!seen.insert(entry.file).second) {
      if (faults.twice++ == 0) faults.first_twice = entry.file;
    } else {
      metadata.requests.push_back(std::move(entry));
    }
  }
  metadata.health = HealthOf(faults, path);
  return metadata;
}

base::Result<RequestMetadata> LoadRequestMetadata(const std::string& path) {
  base::Result<std::string> text =
      io::ReadSmallFile(path, kMaxMetadataBytes, "request metadata", "name the traces themselves");
  if (!text.ok()) return std::move(text).error();
  return ParseRequestMetadata(*text, path);
}

}  // namespace layerscope::document
