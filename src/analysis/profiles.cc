#include "src/analysis/profiles.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/model_summary.h"
#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using model::Identity;
using model::ModelConfig;
using model::Profile;
using table::Block;
using table::Cell;
using table::CellList;
using table::Table;

Block FactsBlock(std::string title, std::vector<std::pair<std::string, std::string>> facts) {
  return {.kind = Block::Kind::kFacts, .title = std::move(title), .facts = std::move(facts)};
}

/// A column that gives way on a narrow terminal.
table::ColumnSpec Wide(std::string name, std::string title = {}) {
  table::ColumnSpec spec{.name = std::move(name), .title = std::move(title)};
  spec.priority = 1;
  return spec;
}

std::string KindOf(const model::ProfileAnchor& anchor) {
  return anchor.boundary ? "boundary" : "period";
}

/// The anchor in one cell: its pattern where it is one kernel, what it stands for where it is a
/// class of them.
std::string AnchorText(const model::ProfileAnchor& anchor) {
  if (!anchor.note.empty()) return anchor.note;
  const std::string patterns = fmt::format("{}", fmt::join(anchor.patterns, ", "));
  return anchor.given ? patterns + ", given" : patterns;
}

/// "model_type deepseek_v4 or architecture DeepseekV4", "keys index_topk and kv_lora_rank".
std::string IdentityText(const Identity& identity) {
  std::vector<std::string> parts;
  if (!identity.model_types.empty()) {
    parts.push_back(fmt::format("model_type {}", fmt::join(identity.model_types, ", ")));
  }
  if (!identity.architectures.empty()) {
    parts.push_back(fmt::format("architecture {}", fmt::join(identity.architectures, ", ")));
  }
  std::string text = fmt::format("{}", fmt::join(parts, " or "));
  const auto add = [&](std::string_view word, const std::vector<std::string>& keys) {
    if (keys.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", word, fmt::join(keys, " and "));
  };
  add(text.empty() ? "has" : "with", identity.keys);
  add("without", identity.without_keys);
  return text.empty() ? "every config" : text;
}

struct ProfileRow {
  std::string name;
  std::string anchor;  ///< for people
  CellList patterns;
  std::string kind;
  bool given = false;
  int64_t blocks = 0;
  int64_t extra = 0;
  std::string models;
  CellList chosen_when;
};

std::vector<ProfileRow> ProfileRows() {
  std::vector<ProfileRow> rows;
  for (const Profile& profile : model::BuiltInProfiles()) {
    ProfileRow row;
    row.name = profile.name;
    row.anchor = AnchorText(profile.anchor);
    row.patterns = profile.anchor.patterns;
    row.kind = KindOf(profile.anchor);
    row.given = profile.anchor.given;
    row.blocks = profile.blocks_per_layer;
    row.extra = profile.anchor.extra_per_pass;
    row.models = profile.summary;
    for (const Identity& identity : profile.identities) {
      row.chosen_when.push_back(IdentityText(identity));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Table ListForMachines(std::vector<ProfileRow> rows) {
  RowTable<ProfileRow> table(std::move(rows));
  table.AddText(Key("name"), &ProfileRow::name)
      .Add(Key("anchor"), [](const ProfileRow& row) { return Cell(row.patterns); })
      .AddText(Key("kind"), &ProfileRow::kind)
      .Add(Key("given"), [](const ProfileRow& row) { return row.given; })
      .AddInt(Key("blocks_per_layer"), &ProfileRow::blocks)
      .AddInt(Key("extra_anchors_per_pass"), &ProfileRow::extra)
      .AddText(Key("models"), &ProfileRow::models)
      .Add(Key("chosen_when"), [](const ProfileRow& row) { return Cell(row.chosen_when); });
  return table.Take();
}

Table ListForPeople(std::vector<ProfileRow> rows) {
  RowTable<ProfileRow> table(std::move(rows));
  table.AddText({.name = "profile"}, &ProfileRow::name)
      .AddText({.name = "anchor"}, &ProfileRow::anchor)
      .AddInt({.name = "blocks"}, &ProfileRow::blocks)
      .AddText(Wide("models"), &ProfileRow::models);
  return table.Take();
}

table::Array ToArray(const std::vector<std::string>& texts) {
  table::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

Table IdentityTable(const Profile& profile) {
  RowTable<Identity> table(profile.identities);
  const auto list = [](std::vector<std::string> Identity::*member) {
    return [member](const Identity& identity) { return Cell(CellList(identity.*member)); };
  };
  table.AddInt(Key("order"), &Identity::order)
      .Add(Key("model_types"), list(&Identity::model_types))
      .Add(Key("architectures"), list(&Identity::architectures))
      .Add(Key("keys"), list(&Identity::keys))
      .Add(Key("without_keys"), list(&Identity::without_keys))
      .Add(Key("any_config"), [](const Identity& identity) { return identity.any_config; });
  return table.Take();
}

Table RuleTable(const Profile& profile) {
  using kernel_names::Rule;
  RowTable<Rule> table(profile.rules);
  const auto list = [](std::vector<std::string> Rule::*member) {
    return [member](const Rule& rule) { return Cell(CellList(rule.*member)); };
  };
  table.AddText(Key("category"), &Rule::category)
      .Add(Key("group"), [](const Rule& rule) { return table::TextCellOrNull(rule.group); })
      .Add(Key("match"), list(&Rule::patterns))
      .Add(Key("also"), list(&Rule::also))
      .Add(Key("unless"), list(&Rule::unless));
  return table.Take();
}

table::Object ProfileToObject(const Profile& profile) {
  const model::ProfileAnchor& anchor = profile.anchor;
  return {{"name", profile.name},
          {"models", profile.summary},
          {"anchor", table::Object{{"patterns", ToArray(anchor.patterns)},
                                   {"kind", KindOf(anchor)},
                                   {"given", anchor.given},
                                   {"extra_per_pass", anchor.extra_per_pass},
                                   {"helpers_before", ToArray(anchor.helpers_before)},
                                   {"note", anchor.note}}},
          {"blocks_per_layer", profile.blocks_per_layer},
          {"block_names", ToArray(profile.block_names)}};
}

/// What a profile says, for people.
std::vector<std::pair<std::string, std::string>> ProfileFacts(const Profile& profile) {
  const model::ProfileAnchor& anchor = profile.anchor;
  std::vector<std::pair<std::string, std::string>> facts = {{"models", profile.summary}};
  if (!anchor.patterns.empty()) {
    facts.emplace_back("anchor", fmt::format("{}", fmt::join(anchor.patterns, ", ")));
  }
  if (!anchor.note.empty()) facts.emplace_back("anchor means", anchor.note);
  facts.emplace_back("anchor is used",
                     anchor.given ? "when given or verified" : "when it is there");
  facts.emplace_back("anchor kind", anchor.boundary ? "boundary: it opens a block"
                                                    : "period: it stands inside the layer");
  facts.emplace_back("blocks a layer", fmt::format("{}", profile.blocks_per_layer));
  if (!profile.block_names.empty()) {
    facts.emplace_back("blocks", fmt::format("{}", fmt::join(profile.block_names, ", ")));
  }
  if (anchor.extra_per_pass > 0) {
    facts.emplace_back("more anchors a pass", fmt::format("{}", anchor.extra_per_pass));
  }
  if (!anchor.helpers_before.empty()) {
    facts.emplace_back("stands before the anchor",
                       fmt::format("{}", fmt::join(anchor.helpers_before, ", ")));
  }
  for (const Identity& identity : profile.identities) {
    facts.emplace_back("chosen when",
                       fmt::format("{} (order {})", IdentityText(identity), identity.order));
  }
  return facts;
}

Block RulesBlock(const Profile& profile) {
  RowTable<kernel_names::Rule> table(profile.rules);
  using kernel_names::Rule;
  table.AddText({.name = "category"}, &Rule::category).Add({.name = "match"}, [](const Rule& rule) {
    return Cell(CellList(rule.patterns));
  });
  return table::TableBlock("categories that come before the universal ones", table.Take());
}

// --- infer

struct PlannedRow {
  int64_t index = 0;
  std::string type;
  CellList flags;
  std::optional<int64_t> ratio;
};

std::vector<PlannedRow> PlannedRows(const ModelConfig& config) {
  std::vector<PlannedRow> rows;
  for (const model::PlannedLayer& layer : config.layers) {
    PlannedRow row{.index = static_cast<int64_t>(rows.size()),
                   .type = layer.type,
                   .flags = {},
                   .ratio = layer.ratio};
    if (row.index == 0) row.flags.emplace_back("FIRST");
    if (row.index + 1 == config.num_layers) row.flags.emplace_back("FINAL");
    rows.push_back(std::move(row));
  }
  return rows;
}

Table LayerTable(const ModelConfig& config) {
  RowTable<PlannedRow> table(PlannedRows(config));
  table.AddInt(Key("index", "layer"), &PlannedRow::index)
      .AddText(Key("type"), &PlannedRow::type)
      .Add(Key("flags"), [](const PlannedRow& row) { return Cell(row.flags); })
      .Add(Key("ratio"), [](const PlannedRow& row) { return table::CellOrNull(row.ratio); });
  return table.Take();
}

/// Equal neighbours, or a cycle of such runs that repeats: one row for people.
struct RunRow {
  int64_t first = 0;
  int64_t n = 0;
  std::string type;
  std::optional<int64_t> ratio;  ///< of a run
  std::string layers;            ///< "0-2"
};

bool SameRun(const RunRow& a, const RunRow& b) {
  return a.n == b.n && a.type == b.type && a.ratio == b.ratio;
}

std::vector<RunRow> RunsOf(const ModelConfig& config) {
  std::vector<RunRow> runs;
  for (const model::PlannedLayer& layer : config.layers) {
    const bool goes_on =
        !runs.empty() && runs.back().type == layer.type && runs.back().ratio == layer.ratio;
    if (!goes_on) {
      const int64_t first = runs.empty() ? 0 : runs.back().first + runs.back().n;
      runs.push_back(
          {.first = first, .n = 0, .type = layer.type, .ratio = layer.ratio, .layers = {}});
    }
    ++runs.back().n;
  }
  return runs;
}

/// How often the `length` runs from `at` on follow each other.
size_t Repeats(const std::vector<RunRow>& runs, size_t at, size_t length) {
  size_t end = at + length;
  while (end < runs.size() && SameRun(runs[end], runs[end - length])) ++end;
  return (end - at) / length;
}

/// One row for `times` times the `length` runs from `at` on: "20 x (HCA_C128+MOE, CSA_C4+MOE)".
RunRow CycleRow(const std::vector<RunRow>& runs, size_t at, size_t length, size_t times) {
  RunRow row{.first = runs[at].first, .n = 0, .type = {}, .ratio = {}, .layers = {}};
  std::vector<std::string> parts;
  for (size_t i = at; i < at + length; ++i) {
    row.n += runs[i].n * static_cast<int64_t>(times);
    parts.push_back(runs[i].n == 1 ? runs[i].type : fmt::format("{} {}", runs[i].n, runs[i].type));
  }
  row.type = fmt::format("{} x ({})", times, fmt::join(parts, ", "));
  return row;
}

std::vector<RunRow> FoldCycles(const std::vector<RunRow>& runs) {
  constexpr size_t kMaxCycle = 8;
  constexpr size_t kMinTimes = 3;
  std::vector<RunRow> rows;
  for (size_t at = 0; at < runs.size();) {
    size_t length = 2;
    size_t times = 0;
    for (; length <= kMaxCycle && at + length <= runs.size(); ++length) {
      times = Repeats(runs, at, length);
      if (times >= kMinTimes) break;
    }
    const bool repeats = times >= kMinTimes;
    rows.push_back(repeats ? CycleRow(runs, at, length, times) : runs[at]);
    at += repeats ? length * times : 1;
  }
  return rows;
}

Table RunTable(const ModelConfig& config) {
  std::vector<RunRow> rows = FoldCycles(RunsOf(config));
  for (RunRow& row : rows) {
    row.layers = row.n == 1 ? fmt::format("{}", row.first)
                            : fmt::format("{}-{}", row.first, row.first + row.n - 1);
  }
  RowTable<RunRow> table(std::move(rows));
  table.AddText({.name = "layers"}, &RunRow::layers)
      .AddInt(Count("n", "n"), &RunRow::n)
      .AddText(Key("type"), &RunRow::type);
  return table.Take();
}

Table TypeTable(const ModelConfig& config) {
  RowTable<PlannedType> table(PlannedTypes(config));
  table.AddText(Key("type"), &PlannedType::type)
      .AddInt(Count("n", "n"), &PlannedType::n)
      .AddText(Wide("layers"), &PlannedType::layers);
  return table.Take();
}

}  // namespace

table::RankResult ComputeProfilesList() {
  table::RankResult result;
  std::vector<ProfileRow> rows = ProfileRows();
  result.blocks.push_back(table::TableBlock(
      fmt::format("profiles: {} are built in",
                  base::FormatCounted(static_cast<int64_t>(rows.size()), "family", "families")),
      ListForPeople(rows)));
  result.data = {{"rows", ListForMachines(std::move(rows))}};
  result.main_table = "rows";
  return result;
}

table::RankResult ComputeProfilesShow(const Profile& profile) {
  table::RankResult result;
  result.blocks.push_back(
      FactsBlock(fmt::format("profile {}", profile.name), ProfileFacts(profile)));
  if (!profile.rules.empty()) result.blocks.push_back(RulesBlock(profile));
  result.data = {{"profile", ProfileToObject(profile)},
                 {"identities", IdentityTable(profile)},
                 {"rules", RuleTable(profile)}};
  result.main_table = "identities";
  return result;
}

table::RankResult ComputeProfilesInfer(const ModelConfig& config,
                                       const model::ProfileChoice& choice) {
  table::RankResult result;
  result.input = config.path;
  result.blocks.push_back(FactsBlock("profile", {{"profile", choice.profile->name},
                                                 {"why", choice.why},
                                                 {"anchor", AnchorText(choice.profile->anchor)}}));
  result.blocks.push_back(FactsBlock("model", ModelFacts(config)));
  result.blocks.push_back(table::TableBlock("layer types", TypeTable(config)));
  result.blocks.push_back(table::TableBlock("layers", RunTable(config)));
  result.data = {{"profile", choice.profile->name}, {"why", choice.why},
                 {"num_layers", config.num_layers}, {"layers", LayerTable(config)},
                 {"clusters", TypeTable(config)},   {"model", ModelToObject(config)}};
  result.main_table = "layers";
  return result;
}

table::RankResult ComputeProfilesCheck(const Profile& profile, const std::string& file) {
  table::RankResult result;
  result.input = file;
  result.blocks.push_back(
      FactsBlock(fmt::format("{}: a valid profile", file), ProfileFacts(profile)));
  result.data = {{"file", file},
                 {"valid", true},
                 {"profile", profile.name},
                 {"n_identities", profile.identities.size()},
                 {"n_rules", profile.rules.size()},
                 {"blocks_per_layer", profile.blocks_per_layer}};
  return result;
}

}  // namespace layerscope::analysis
