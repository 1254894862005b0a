#include "src/render/value_blocks.h"

#include <string>
#include <string_view>
#include <utility>

#include "src/render/data_tables.h"
#include "src/render/number_format.h"

namespace layerscope::render {
namespace {

table::Unit UnitOf(std::string_view key) {
  const std::string_view last = key.substr(key.rfind('.') + 1);
  if (last.ends_with("_ns")) return table::Unit::kNanoseconds;
  if (last == "bytes" || last.ends_with("_bytes")) return table::Unit::kBytes;
  if (last.ends_with("_ppm")) return table::Unit::kPartsPerMillion;
  return last.starts_with("n_") ? table::Unit::kCount : table::Unit::kNone;
}

std::string FactText(std::string_view key, const table::Cell& cell) {
  const table::Unit unit = UnitOf(key);
  if (const auto* value = std::get_if<int64_t>(&cell)) return UnitText(unit, *value);
  return NumberFormat(unit, {cell}).Text(cell);
}

}  // namespace

std::vector<table::Block> BlocksOf(const table::Object& data) {
  std::vector<table::Block> blocks;
  table::Block facts;
  facts.kind = table::Block::Kind::kFacts;
  for (const auto& [key, cell] : ScalarsOf(data))
    facts.facts.emplace_back(key, FactText(key, cell));
  if (!facts.facts.empty()) blocks.push_back(std::move(facts));
  for (const NamedTable& named : TablesOf(data)) {
    if (named.table->columns.empty()) continue;  // an empty list, among the facts already
    table::Block block;
    block.kind = table::Block::Kind::kTable;
    block.title = named.path;
    block.table = *named.table;
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace layerscope::render
