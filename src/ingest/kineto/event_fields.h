#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::ingest::kineto {

/// The parts of one event that we use, as tokens of the text; an absent one has no data.
struct EventFields {
  std::string_view ph, cat, name, pid, tid, ts, dur;
  std::string_view id;  ///< of flows and async events
};

/// The same for its `args`.
struct ArgFields {
  std::string_view correlation, external_id, device, stream;
  std::string_view input_dims, input_types, grid, block;
  std::string_view collective, dtype, message_elements, group_size;
  std::string_view name;    ///< metadata events
  std::string_view kernel;  ///< launch calls of ROCm
  std::string_view graph_node, original_graph_node;
};

/// Where a key's value goes, or null for keys that are not used. `key` points behind the opening
/// quote of a key in text that is readable for 32 bytes more.
std::string_view EventFields::*FindEventField(const char* key);
std::string_view ArgFields::*FindArgField(const char* key);
/// True for the key `args`.
bool IsArgsKey(const char* key);

}  // namespace layerscope::ingest::kineto
