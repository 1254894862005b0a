#include "src/document/map/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/json/document.h"

namespace layerscope::document {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kNamespace = "c10::";
/// A shape of a longer text is a list of many tensors.
constexpr size_t kMostShapeItems = 16;

/// PyTorch's C++ names of element types (c10/core/ScalarType.h) and their Python names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kDtypes = {
    {{"float", "float32"},
     {"double", "float64"},
     {"BFloat16", "bfloat16"},
     {"Half", "float16"},
     {"long int", "int64"},
     {"int", "int32"},
     {"unsigned char", "uint8"},
     {"signed char", "int8"}}};

bool IsTensorType(std::string_view type) {
  return !type.empty() && type != "Scalar" && type != "ScalarList";
}

/// Shape or list of shapes; false when it is too long to be one.
bool ShapeValue(const json::Node& node, int depth, std::string* text, table::Value* value) {
  if (const std::optional<int64_t> number = node.AsInt(); !node.IsArray()) {
    *value = number ? table::Value(*number) : table::Value();
    *text += number ? std::to_string(*number) : "?";
    return true;
  }
  if (node.items().size() > kMostShapeItems || depth > 2) return false;
  table::Array items;
  *text += '[';
  for (const json::Node& item : node.items()) {
    if (!items.empty()) *text += ',';
    table::Value one;
    if (!ShapeValue(item, depth + 1, text, &one)) return false;
    items.push_back(std::move(one));
  }
  *text += ']';
  *value = std::move(items);
  return true;
}

json::Node Parse(const trace::Trace& trace, trace::StringId text) {
  if (!text.valid()) return {};
  base::Result<json::Node> node = json::ParseDocument(trace.strings[text]);
  return node.ok() ? *std::move(node) : json::Node();
}

std::string_view TypeAt(const json::Node& types, size_t i) {
  if (i >= types.items().size()) return {};
  return types.items()[i].AsString().value_or(std::string_view());
}

void AddDims(const std::string& shape, std::string* dims) {
  constexpr std::string_view kArrow = " → ";
  if (dims->size() + shape.size() > kMostNameBytes) {
    if (!dims->ends_with(kEllipsis)) *dims += kEllipsis;
    return;
  }
  if (!dims->empty()) *dims += kArrow;
  *dims += shape;
}

}  // namespace

double Microseconds(int64_t ns) {
  constexpr double kNsPerTenth = 100.0;
  return std::round(static_cast<double>(ns) / kNsPerTenth) / 10.0;
}

std::string CutName(std::string_view name) {
  if (name.size() <= kMostNameBytes) return std::string(name);
  size_t n = kMostNameBytes - kEllipsis.size();
  while (n > 0 && (static_cast<unsigned char>(name[n]) & 0xc0U) == 0x80U) --n;
  return std::string(name.substr(0, n)) + std::string(kEllipsis);
}

table::Object EvidenceValue(const analysis::EvidenceSums& sums) {
  table::Object object;
  for (const auto& [name, ns] : analysis::ToCellMap(sums)) {
    if (ns != 0) object.emplace_back(name, ns);
  }
  return object;
}

OpArguments ReadArguments(const trace::Trace& trace, trace::ArgsId args) {
  OpArguments read;
  if (!args.valid()) return read;
  const json::Node dims = Parse(trace, trace.args[args.index()].input_dims);
  const json::Node types = Parse(trace, trace.args[args.index()].input_types);
  const size_t n = std::max(dims.items().size(), types.items().size());
  for (size_t i = 0; i < n && read.args.size() < kMostArguments; ++i) {
    const std::string_view type = TypeAt(types, i);
    const bool has_shape = i < dims.items().size() && !dims.items()[i].items().empty();
    const bool is_tensor = has_shape || IsTensorType(type);
    if (!is_tensor && type.empty()) continue;
    table::Value shape;
    if (is_tensor && i < dims.items().size()) {
      std::string text;
      if (ShapeValue(dims.items()[i], 0, &text, &shape)) AddDims(text, &read.dims);
    }
    read.has_tensor |= is_tensor;
    std::string_view dtype = type;
    if (dtype.starts_with(kNamespace)) dtype.remove_prefix(kNamespace.size());
    read.args.emplace_back(
        table::Object{{"name", "in" + std::to_string(i)},
                      {"shape", std::move(shape)},
                      {"dtype", dtype.empty() ? table::Value() : table::Value(CutName(dtype))}});
  }
  return read;
}

std::string DtypeName(std::string_view recorded) {
  if (recorded.starts_with(kNamespace)) recorded.remove_prefix(kNamespace.size());
  for (const auto& [cpp, python] : kDtypes) {
    if (recorded == cpp) return std::string(python);
  }
  std::string name(recorded);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return name;
}

}  // namespace layerscope::document
