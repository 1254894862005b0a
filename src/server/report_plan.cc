#include "src/server/report_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "src/json/document.h"
#include "src/json/scanner.h"
#include "src/server/page.h"

namespace layerscope::server {
namespace {

struct Candidate {
  std::string kind;
  int64_t wall_ns = 0;
  int64_t index = 0;
};

/// `data` of an envelope, of its first rank where it has several; null for an error.
const json::Node* DataOf(const json::Node& envelope) {
  const json::Node* const data = envelope.Find("data");
  if (data != nullptr && data->IsObject()) return data;
  const json::Node* const ranks = envelope.Find("ranks");
  if (ranks == nullptr || ranks->items().empty()) return nullptr;
  return ranks->items().front().Find("data");
}

std::optional<int64_t> IntOf(const json::Node& row, std::string_view key) {
  const json::Node* const value = row.Find(key);
  return value == nullptr ? std::nullopt : value->AsInt();
}

std::string TextOf(const json::Node& row, std::string_view key) {
  const json::Node* const value = row.Find(key);
  return std::string(value == nullptr ? std::string_view()
                                      : value->AsString().value_or(std::string_view()));
}

/// Rows of a list in `data` that have a wall time; of passes the whole ones.
std::vector<Candidate> CandidatesOf(std::string_view text, std::string_view list,
                                    std::string_view kind, bool only_complete) {
  std::vector<Candidate> found;
  const base::Result<json::Node> envelope = json::ParseDocument(text);
  const json::Node* const data = envelope.ok() ? DataOf(*envelope) : nullptr;
  const json::Node* const rows = data == nullptr ? nullptr : data->Find(list);
  if (rows == nullptr) return found;
  for (const json::Node& row : rows->items()) {
    const std::optional<int64_t> wall_ns = IntOf(row, "wall_ns");
    const std::optional<int64_t> index = IntOf(row, "index");
    const json::Node* const complete = row.Find("complete");
    const bool is_whole = complete != nullptr && complete->AsBool().value_or(false);
    if (!wall_ns || !index || (only_complete && !is_whole)) continue;
    found.push_back({TextOf(row, kind), *wall_ns, *index});
  }
  return found;
}

/// The kind that most have; of two with as many the one that comes first.
std::string CommonestKind(const std::vector<Candidate>& candidates) {
  std::map<std::string, int64_t> counts;
  for (const Candidate& candidate : candidates) ++counts[candidate.kind];
  std::string best;
  int64_t most = 0;
  for (const Candidate& candidate : candidates) {
    if (counts[candidate.kind] <= most) continue;
    most = counts[candidate.kind];
    best = candidate.kind;
  }
  return best;
}

std::vector<ComparedInterval> Pick(std::vector<Candidate> candidates, const char* option) {
  const std::string kind = CommonestKind(candidates);
  std::erase_if(candidates, [&](const Candidate& c) { return c.kind != kind; });
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.wall_ns, a.index) < std::pair(b.wall_ns, b.index);
  });
  std::vector<ComparedInterval> picked;
  if (candidates.empty()) return picked;
  for (const size_t tenths : {size_t{1}, size_t{5}, size_t{9}}) {
    // floor(q (n - 1) + 1/2) in whole numbers.
    const size_t at = (2 * tenths * (candidates.size() - 1) + 10) / 20;
    const int64_t index = candidates[at].index;
    const bool is_new = std::none_of(picked.begin(), picked.end(),
                                     [index](const auto& other) { return other.index == index; });
    if (is_new) picked.push_back({option, index});
  }
  return picked;
}

/// The depth of the row whose opening bracket was the last token; 0 where it has none.
int64_t DepthOfRow(json::Scanner& row) {
  using Token = json::Scanner::Token;
  int64_t depth = 0;
  for (Token token = row.Next(); token == Token::kKey; token = row.Next()) {
    if (row.text() != "depth") {
      if (!row.SkipValue()) return 0;
    } else if (row.Next() == Token::kNumber) {
      std::from_chars(row.text().data(), row.text().data() + row.text().size(), depth);
    }
  }
  return depth;
}

/// What the rows of each level take in every list of that name, commas included.
std::map<int64_t, size_t> BytesOfLevels(std::string_view modules) {
  using Token = json::Scanner::Token;
  std::map<int64_t, size_t> bytes;
  json::Scanner scanner(modules);
  bool is_nodes = false;
  for (Token token = scanner.Next(); token != Token::kEnd && token != Token::kError;) {
    if (token == Token::kBeginArray && is_nodes) {
      for (token = scanner.Next(); token == Token::kBeginObject; token = scanner.Next()) {
        const size_t begin = scanner.offset() - 1;
        const int64_t depth = DepthOfRow(scanner);
        const std::string_view row = modules.substr(begin, scanner.offset() - begin);
        if (depth > 0) bytes[depth] += EscapedForScript(row).size() + 1;
      }
    }
    is_nodes = token == Token::kKey && scanner.text() == "nodes";
    token = scanner.Next();
  }
  return bytes;
}

}  // namespace

std::vector<ComparedInterval> ComparedIntervals(std::string_view passes, std::string_view steps) {
  std::vector<Candidate> whole = CandidatesOf(passes, "passes", "kind", true);
  if (!whole.empty()) return Pick(std::move(whole), "pass");
  return Pick(CandidatesOf(steps, "steps", "phase", false), "step");
}

ShownLayers LayersShown(std::string_view layers) {
  ShownLayers shown;
  const base::Result<json::Node> envelope = json::ParseDocument(layers);
  const json::Node* const data = envelope.ok() ? DataOf(*envelope) : nullptr;
  if (data == nullptr) return shown;
  shown.pass = IntOf(*data, "pass");
  if (const json::Node* const rows = data->Find("layers")) {
    for (const json::Node& row : rows->items()) {
      if (const std::optional<int64_t> index = IntOf(row, "index")) shown.layers.push_back(*index);
    }
  }
  return shown;
}

int LevelsWithin(std::string_view modules, size_t limit) {
  const std::map<int64_t, size_t> levels = BytesOfLevels(modules);
  size_t bytes = EscapedForScript(modules).size();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (bytes <= limit) return static_cast<int>(level->first);
    bytes -= level->second;
  }
  return 0;
}

ListedModules ModulesListed(std::string_view modules) {
  const base::Result<json::Node> envelope = json::ParseDocument(modules);
  const json::Node* const data = envelope.ok() ? DataOf(*envelope) : nullptr;
  if (data == nullptr) return {};
  const json::Node* const nodes = data->Find("nodes");
  const json::Node* const hidden = data->Find("not_listed");
  const int64_t listed = nodes == nullptr ? 0 : static_cast<int64_t>(nodes->items().size());
  const int64_t more = hidden == nullptr ? 0 : IntOf(*hidden, "modules").value_or(0);
  return {listed, listed + more};
}

}  // namespace layerscope::server
