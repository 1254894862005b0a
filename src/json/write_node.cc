#include "src/json/write_node.h"

#include "src/json/writer.h"

namespace layerscope::json {
namespace {

/// As deep as ParseDocument lets a document nest.
void Write(const Node& node, Writer& writer) {
  switch (node.kind()) {
    case Node::Kind::kNull:
      writer.Null();
      return;
    case Node::Kind::kBool:
      writer.Bool(std::get<bool>(node.value));
      return;
    case Node::Kind::kInt:
      writer.Int(std::get<int64_t>(node.value));
      return;
    case Node::Kind::kDouble:
      writer.Double(std::get<double>(node.value));
      return;
    case Node::Kind::kString:
      writer.String(std::get<std::string>(node.value));
      return;
    case Node::Kind::kArray:
      writer.BeginArray();
      for (const Node& item : node.items()) Write(item, writer);
      writer.EndArray();
      return;
    case Node::Kind::kObject:
      writer.BeginObject();
      for (const Node::Member& member : node.members()) {
        writer.Key(member.first);
        Write(member.second, writer);
      }
      writer.EndObject();
      return;
  }
}

}  // namespace

std::string WriteNode(const Node& node) {
  Writer writer;
  Write(node, writer);
  return writer.Take();
}

}  // namespace layerscope::json
