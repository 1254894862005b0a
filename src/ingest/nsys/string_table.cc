#include "src/ingest/nsys/string_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "src/ingest/nsys/table_scan.h"
#include "src/ingest/nsys/valid_text.h"

namespace layerscope::ingest::nsys {
namespace {

constexpr std::array<Column, 2> kColumns = {{{"id", true}, {"value", true}}};
enum : int { kId, kValue };
constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kNodeCreation = "Graph Node Creation";
/// One look-up costs about as much as stepping over this many rows.
constexpr size_t kRowsPerLookup = 16;

class Reading {
 public:
  Reading(RowDictionary& dictionary, trace::Ledger& ledger, TableStrings& strings)
      : dictionary_(dictionary), ledger_(ledger), strings_(strings) {
    const std::vector<int64_t>& numbers = dictionary.table_strings();
    for (size_t slot = 0; slot < numbers.size(); ++slot) wanted_.emplace_back(numbers[slot], slot);
    std::sort(wanted_.begin(), wanted_.end());
    strings.names.resize(numbers.size());
    strings.ranges.resize(numbers.size());
    strings.is_node_creation.resize(numbers.size());
    strings.is_unknown.resize(numbers.size());
    found_.resize(numbers.size());
  }

  const std::vector<std::pair<int64_t, size_t>>& wanted() const { return wanted_; }

  void Take(Row& row) {
    const int64_t id = row.Needed(kId);
    if (row.bad()) return row.AddTo(ledger_);
    const auto at = std::lower_bound(wanted_.begin(), wanted_.end(), std::pair(id, size_t{0}));
    if (at == wanted_.end() || at->first != id || found_[at->second] != 0) return;
    const std::optional<std::string_view> text = row.Text(kValue);
    if (!text) row.SetBad(kValue);
    if (row.bad()) return row.AddTo(ledger_);
    Store(at->second, *text);
  }

  /// What no row was found for gets a name that says so.
  void NameUnknown() {
    for (const auto& [id, slot] : wanted_) {
      if (found_[slot] != 0) continue;
      ledger_.AddSample(trace::LedgerCode::unknown_name, -1, fmt::format("StringIds id {}", id));
      Store(slot, kUnknown);
      strings_.is_unknown[slot] = 1;
    }
  }

 private:
  void Store(size_t slot, std::string_view raw) {
    found_[slot] = 1;
    const std::string_view text = ValidText(raw, repaired_, ledger_);
    const uint8_t use = dictionary_.table_string_uses()[slot];
    if ((use & kAsName) != 0) strings_.names[slot] = dictionary_.Text(text);
    if ((use & kAsNvtxText) != 0) strings_.ranges[slot] = RangeOfText(text, false, dictionary_);
    if ((use & kAsNodeEvent) != 0) strings_.is_node_creation[slot] = text == kNodeCreation ? 1 : 0;
  }

  RowDictionary& dictionary_;
  trace::Ledger& ledger_;
  TableStrings& strings_;
  std::vector<std::pair<int64_t, size_t>> wanted_;  ///< id, slot; by id
  std::vector<uint8_t> found_;                      ///< by slot
  std::string repaired_;
};

/// True when `id` is SQLite's own row number, and the wanted ones are a small part of the table.
bool LookUpPays(const Database& database, const TableQuery& query, size_t n_wanted) {
  Statement plan(database, fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE "
                                       "name = 'id' AND pk = 1 AND upper(type) = 'INTEGER'",
                                       query.table()));
  if (!query.numbered() || plan.Next() != Step::kRow || plan.Integer(0) != 1) return false;
  Statement last(database, fmt::format("SELECT max({}) FROM {}", kRowNumber, query.table()));
  if (last.Next() != Step::kRow || last.Type(0) != SQLITE_INTEGER) return false;
  return static_cast<size_t>(std::max<int64_t>(last.Integer(0), 0)) / kRowsPerLookup > n_wanted;
}

Step LookUp(const Database& database, const TableQuery& query, trace::Ledger& ledger,
            Reading& reading) {
  TableScan scan(database, query, {0, 0}, ledger);
  for (const auto& [id, slot] : reading.wanted()) {
    scan.Restart({id, id});
    if (scan.Next()) reading.Take(scan.row());
    if (scan.end() != Step::kDone) return scan.end();
  }
  return Step::kDone;
}

Step PassOver(const Database& database, const TableQuery& query, trace::Ledger& ledger,
              Reading& reading) {
  TableScan scan(database, query, {}, ledger);
  while (scan.Next()) reading.Take(scan.row());
  return scan.end();
}

}  // namespace

Step ReadTableStrings(const Database& database, const Schema& schema, RowDictionary& dictionary,
                      trace::Ledger& ledger, TableStrings& strings) {
  Reading reading(dictionary, ledger, strings);
  const auto query = schema.HasTable(kStrings)
                         ? TableQuery::Build(schema, kStrings, kColumns, ledger)
                         : std::nullopt;
  if (query && !reading.wanted().empty()) {
    const bool looks_up = LookUpPays(database, *query, reading.wanted().size());
    const Step end = looks_up ? LookUp(database, *query, ledger, reading)
                              : PassOver(database, *query, ledger, reading);
    if (end != Step::kDone) return end;
  }
  reading.NameUnknown();
  return Step::kDone;
}

}  // namespace layerscope::ingest::nsys
