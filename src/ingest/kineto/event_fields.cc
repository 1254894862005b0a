#include "src/ingest/kineto/event_fields.h"

#include <cstring>

namespace layerscope::ingest::kineto {
namespace {

/// Compares with the key's text and its closing quote.
template <size_t N>
bool Is(const char* key, const char (&quoted)[N]) {
  return std::memcmp(key, quoted, N - 1) == 0;
}

std::string_view ArgFields::*FindInputField(const char* key) {
  if (Is(key, "Input Dims\"") || Is(key, "Input dims\"")) return &ArgFields::input_dims;
  if (Is(key, "Input type\"") || Is(key, "Input Type\"")) return &ArgFields::input_types;
  if (Is(key, "In msg nelems\"")) return &ArgFields::message_elements;
  return nullptr;
}

}  // namespace

std::string_view EventFields::*FindEventField(const char* key) {
  switch (key[0]) {
    case 'p':
      if (Is(key, "ph\"")) return &EventFields::ph;
      return Is(key, "pid\"") ? &EventFields::pid : nullptr;
    case 't':
      if (Is(key, "ts\"")) return &EventFields::ts;
      return Is(key, "tid\"") ? &EventFields::tid : nullptr;
    case 'c':
      return Is(key, "cat\"") ? &EventFields::cat : nullptr;
    case 'n':
      return Is(key, "name\"") ? &EventFields::name : nullptr;
    case 'd':
      return Is(key, "dur\"") ? &EventFields::dur : nullptr;
    case 'i':
      return Is(key, "id\"") ? &EventFields::id : nullptr;
    default:
      return nullptr;
  }
}

std::string_view ArgFields::*FindArgField(const char* key) {
  switch (key[0]) {
    case 'c':
      return Is(key, "correlation\"") ? &ArgFields::correlation : nullptr;
    case 'E':
      return Is(key, "External id\"") ? &ArgFields::external_id : nullptr;
    case 'e':
      return Is(key, "external id\"") ? &ArgFields::external_id : nullptr;
    case 'd':
      if (Is(key, "device\"")) return &ArgFields::device;
      return Is(key, "dtype\"") ? &ArgFields::dtype : nullptr;
    case 's':
      return Is(key, "stream\"") ? &ArgFields::stream : nullptr;
    case 'I':
      return FindInputField(key);
    case 'g':
      if (Is(key, "graph node id\"")) return &ArgFields::graph_node;
      return Is(key, "grid\"") ? &ArgFields::grid : nullptr;
    case 'b':
      return Is(key, "block\"") ? &ArgFields::block : nullptr;
    case 'C':
      return Is(key, "Collective name\"") ? &ArgFields::collective : nullptr;
    case 'G':
      return Is(key, "Group size\"") ? &ArgFields::group_size : nullptr;
    case 'n':
      return Is(key, "name\"") ? &ArgFields::name : nullptr;
    case 'o':
      return Is(key, "original graph node id\"") ? &ArgFields::original_graph_node : nullptr;
    case 'k':
      return Is(key, "kernel\"") ? &ArgFields::kernel : nullptr;
    default:
      return nullptr;
  }
}

bool IsArgsKey(const char* key) {
  return Is(key, "args\"");
}

}  // namespace layerscope::ingest::kineto
