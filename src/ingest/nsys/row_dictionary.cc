#include "src/ingest/nsys/row_dictionary.h"

#include <utility>

namespace layerscope::ingest::nsys {
namespace {

/// The id of a key, added to `keys` when it is new.
template <typename Map, typename Key>
typename Map::mapped_type FindOrAdd(Map& ids, const Key& key, std::vector<Key>& keys) {
  using Id = typename Map::mapped_type;
  const auto [entry, is_new] = ids.try_emplace(key, Id(keys.size()));
  if (is_new) keys.push_back(key);
  return entry->second;
}

}  // namespace

size_t RowDictionary::StreamHash::operator()(const StreamKey& key) const noexcept {
  uint64_t hash = base::Mix(key.process.index());
  for (const int64_t part : {key.device, key.context, key.stream}) {
    hash = base::MixIn(hash, static_cast<uint64_t>(part));
  }
  return hash;
}

size_t RowDictionary::ArgsKeyHash::operator()(const ArgsKey& key) const noexcept {
  uint64_t hash = base::Mix(key.sizes.index());
  for (const auto& extents : {key.grid, key.block}) {
    for (const int64_t part : extents) hash = base::MixIn(hash, static_cast<uint64_t>(part));
  }
  return hash;
}

trace::StringId RowDictionary::TableString(int64_t number, uint8_t use) {
  const uint32_t slot = FindOrAdd(table_string_slots_, number, table_strings_);
  if (slot >= table_string_uses_.size()) table_string_uses_.resize(slot + 1);
  table_string_uses_[slot] |= use;
  return trace::StringId(slot | kFromTable);
}

trace::ProcessId RowDictionary::Process(int64_t global) {
  return FindOrAdd(process_ids_, GlobalPidOf(global), processes_);
}

trace::ThreadId RowDictionary::Thread(int64_t global_tid) {
  return FindOrAdd(thread_ids_, global_tid, threads_);
}

trace::StreamId RowDictionary::Stream(const StreamKey& key) {
  if (!last_stream_.valid() || streams_[last_stream_.index()] != key) {
    last_stream_ = FindOrAdd(stream_ids_, key, streams_);
  }
  return last_stream_;
}

trace::ArgsId RowDictionary::Args(const ArgsKey& key) {
  if (!last_args_.valid() || args_[last_args_.index()] != key) {
    last_args_ = FindOrAdd(args_ids_, key, args_);
  }
  return last_args_;
}

trace::ProcessId RowDictionary::FindProcess(int64_t global) const {
  const auto found = process_ids_.find(GlobalPidOf(global));
  return found == process_ids_.end() ? trace::ProcessId() : found->second;
}

trace::ThreadId RowDictionary::FindThread(int64_t global_tid) const {
  const auto found = thread_ids_.find(global_tid);
  return found == thread_ids_.end() ? trace::ThreadId() : found->second;
}

}  // namespace layerscope::ingest::nsys
