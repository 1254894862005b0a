#include "src/render/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "src/json/writer.h"
#include "src/render/health_lines.h"

namespace layerscope::render {
namespace {

using json::Writer;

constexpr int kIndent = 2;

void WriteString(Writer& writer, std::string_view key, std::string_view value) {
  writer.Key(key);
  writer.String(value);
}

void WriteInt(Writer& writer, std::string_view key, std::optional<int64_t> value) {
  writer.Key(key);
  if (value) {
    writer.Int(*value);
  } else {
    writer.Null();
  }
}

void WriteMap(Writer& writer, const table::CellMap& map) {
  writer.BeginObject();
  for (const auto& [key, value] : map) WriteInt(writer, key, value);
  writer.EndObject();
}

void WriteCell(Writer& writer, const table::Cell& cell) {
  struct Visitor {
    Writer& writer;
    void operator()(table::Null) const { writer.Null(); }
    void operator()(bool value) const { writer.Bool(value); }
    void operator()(int64_t value) const { writer.Int(value); }
    void operator()(double value) const { writer.Double(value); }
    void operator()(std::string_view value) const { writer.String(value); }
    void operator()(const table::CellMap& map) const { WriteMap(writer, map); }
    void operator()(const table::CellList& list) const {
      writer.BeginArray();
      for (const std::string& item : list) writer.String(item);
      writer.EndArray();
    }
  };
  std::visit(Visitor{writer}, cell);
}

void WriteTable(Writer& writer, const table::Table& table) {
  writer.BeginArray();
  for (size_t i = 0; i < table.size(); ++i) {
    const size_t row = table.RowAt(i);
    writer.BeginObject();
    for (const table::Column& column : table.columns) {
      if (column.spec.audience == table::Audience::kPeople) continue;
      writer.Key(column.spec.name);
      WriteCell(writer, column.cell(row));
    }
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteValue(Writer& writer, const table::Value& value);

void WriteMembers(Writer& writer, const table::Object& object) {
  for (const auto& [key, value] : object) {
    writer.Key(key);
    WriteValue(writer, value);
  }
}

void WriteValue(Writer& writer, const table::Value& value) {
  struct Visitor {
    Writer& writer;
    void operator()(table::Null) const { writer.Null(); }
    void operator()(bool v) const { writer.Bool(v); }
    void operator()(int64_t v) const { writer.Int(v); }
    void operator()(double v) const { writer.Double(v); }
    void operator()(const std::string& v) const { writer.String(v); }
    void operator()(const std::shared_ptr<table::Table>& v) const { WriteTable(writer, *v); }
    void operator()(const std::shared_ptr<table::Object>& v) const {
      writer.BeginObject();
      WriteMembers(writer, *v);
      writer.EndObject();
    }
    void operator()(const std::shared_ptr<table::Array>& v) const {
      writer.BeginArray();
      for (const table::Value& element : *v) WriteValue(writer, element);
      writer.EndArray();
    }
  };
  std::visit(Visitor{writer}, value.variant());
}

void WriteInputs(Writer& writer, const std::vector<table::InputInfo>& inputs) {
  writer.Key("inputs");
  writer.BeginArray();
  for (const table::InputInfo& input : inputs) {
    writer.BeginObject();
    WriteString(writer, "path", input.path);
    WriteString(writer, "kind", input.kind);
    WriteInt(writer, "rank", input.rank);
    // Absolute nanoseconds exceed the 53 bits that readers of JSON numbers may keep.
    WriteString(writer, "t0_ns", fmt::format("{}", input.t0_ns));
    WriteInt(writer, "span_ns", input.span_ns);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteHealth(Writer& writer, const table::Result& result) {
  writer.Key("health");
  writer.BeginArray();
  for (const table::HealthEntry& entry : CollectHealth(result)) {
    writer.BeginObject();
    WriteString(writer, "code", entry.code);
    WriteString(writer, "severity", table::ToString(entry.severity));
    WriteInt(writer, "count", entry.count);
    WriteString(writer, "message", entry.message);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteCoverageAndData(Writer& writer, const table::RankResult& rank) {
  writer.Key("coverage");
  writer.BeginObject();
  WriteInt(writer, "total_ns", rank.coverage.total_ns);
  writer.Key("module");
  WriteMap(writer, rank.coverage.module);
  writer.Key("layer");
  WriteMap(writer, rank.coverage.layer);
  writer.EndObject();

  writer.Key("data");
  writer.BeginObject();
  WriteMembers(writer, rank.data);
  if (rank.abstained) {
    writer.Key("abstained");
    writer.BeginObject();
    WriteString(writer, "code", rank.abstained->code);
    WriteString(writer, "why", rank.abstained->why);
    WriteString(writer, "how", rank.abstained->how);
    writer.EndObject();
  }
  writer.EndObject();
}

void WriteRanks(Writer& writer, const table::Result& result) {
  writer.Key("coverage");
  writer.Null();
  writer.Key("data");
  writer.Null();
  writer.Key("ranks");
  writer.BeginArray();
  for (const table::RankResult& rank : result.ranks) {
    writer.BeginObject();
    WriteInt(writer, "rank", rank.rank);
    WriteString(writer, "input", rank.input);
    WriteCoverageAndData(writer, rank);
    writer.EndObject();
  }
  writer.EndArray();
}

const table::Object* AsObject(const table::Value& value) {
  const auto* const object = std::get_if<std::shared_ptr<table::Object>>(&value.variant());
  return object == nullptr ? nullptr : object->get();
}

/// An object that holds objects or arrays.
bool IsRow(const table::Value& value) {
  const table::Object* const object = AsObject(value);
  if (object == nullptr) return false;
  return std::any_of(object->begin(), object->end(), [](const auto& member) {
    return AsObject(member.second) != nullptr ||
           std::holds_alternative<std::shared_ptr<table::Array>>(member.second.variant());
  });
}

/// As WriteValue, with the rows of arrays on lines of their own.
void WriteRows(Writer& writer, const table::Value& value) {
  if (const table::Object* const object = AsObject(value)) {
    writer.BeginObject();
    for (const auto& [key, member] : *object) {
      writer.Key(key);
      WriteRows(writer, member);
    }
    writer.EndObject();
    return;
  }
  const auto* const array = std::get_if<std::shared_ptr<table::Array>>(&value.variant());
  if (array == nullptr) return WriteValue(writer, value);
  writer.BeginArray();
  for (const table::Value& element : **array) {
    if (IsRow(element)) writer.BreakLine();
    WriteRows(writer, element);
  }
  writer.EndArray();
}

std::string Finished(Writer& writer) {
  writer.EndObject();
  return writer.Take() + '\n';
}

}  // namespace

std::string RenderJson(const table::Result& result) {
  Writer writer(kIndent);
  writer.BeginObject();
  WriteString(writer, "schema", kSchema);
  WriteString(writer, "command", result.command);
  WriteInputs(writer, result.inputs);
  writer.Key("options");
  writer.BeginObject();
  WriteMembers(writer, result.options);
  writer.EndObject();
  WriteHealth(writer, result);
  if (HasSeveralRanks(result)) {
    WriteRanks(writer, result);
  } else {
    WriteCoverageAndData(writer, result.ranks.empty() ? table::RankResult{} : result.ranks.front());
  }
  if (result.reduced) {
    writer.Key("reduced");
    writer.BeginObject();
    WriteMembers(writer, *result.reduced);
    writer.EndObject();
  }
  return Finished(writer);
}

std::string RenderJsonError(std::string_view command, const base::Error& error) {
  Writer writer(kIndent);
  writer.BeginObject();
  WriteString(writer, "schema", kSchema);
  WriteString(writer, "command", command);
  writer.Key("error");
  writer.BeginObject();
  WriteString(writer, "code", base::ToString(error.code));
  WriteString(writer, "message", error.message);
  WriteString(writer, "hint", error.hint);
  writer.EndObject();
  return Finished(writer);
}

std::string JsonText(const table::Value& value) {
  Writer writer;
  WriteValue(writer, value);
  return writer.Take();
}

base::Status WriteJsonDocument(const table::Value& root,
                               const std::function<base::Status(std::string_view)>& write) {
  Writer writer;
  const table::Object* const object = AsObject(root);
  if (object == nullptr) {
    WriteRows(writer, root);
    return write(writer.Take() + '\n');
  }
  writer.BeginObject();
  for (const auto& [key, value] : *object) {
    writer.BreakLine();
    writer.Key(key);
    WriteRows(writer, value);
    if (base::Status written = write(writer.TakePiece()); !written.ok()) return written;
  }
  return write(Finished(writer));
}

}  // namespace layerscope::render
