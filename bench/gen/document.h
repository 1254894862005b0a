#pragma once
// The document around the events: header, metadata events, batches in the chosen order, footer.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gen/event_text.h"
#include "bench/gen/options.h"
#include "bench/gen/random.h"
#include "bench/gen/text_sink.h"

namespace layerscope::gen {

class Document {
 public:
  Document(const Options& options, int64_t rank, TextSink* sink);

  // Depth at which members of an event's args stand.
  static int ArgsDepth(const Options& options) { return options.bare_array ? 3 : 4; }

  void Begin();
  void WriteBatch(const std::vector<Event>& events);
  void End(int64_t end_ns);

  const WrittenCounts& counts() const { return text_.counts(); }

 private:
  void WriteHeader();
  void WriteDeviceProperties(JsonText& json, int64_t id) const;
  void WriteProcessMetadata();
  void WriteMetadataOf(int64_t device, int64_t process_id, bool with_process, bool with_device);
  void WriteGroup(const std::vector<Event>& events, int group);
  void WriteShuffled(const std::vector<Event>& events);

  const Options& o_;
  int64_t rank_;
  TextSink& sink_;
  EventText text_;
  Random random_;
};

}  // namespace layerscope::gen
