#include "src/document/trace_copy.h"

#include <string_view>

#include "src/base/check.h"
#include "src/document/event_list.h"
#include "src/document/first_read.h"

namespace layerscope::document {
namespace {

using ingest::kineto::RawEvent;
using ingest::kineto::RawEventReader;

/// Events between two looks at the stop flag and reports of progress.
constexpr int64_t kEventsBetweenReports = 4096;

std::string Opening(const RawEventReader& reader) {
  if (reader.is_array()) return "[";
  const std::string members = reader.MembersBefore();
  return members.empty() ? "{\n\"traceEvents\": [" : "{\n" + members + ",\n\"traceEvents\": [";
}

std::string Closing(RawEventReader& reader, const std::string& added) {
  if (reader.is_array()) return "\n]\n";
  std::string members = reader.MembersAfter();
  if (!members.empty() && !added.empty()) members += ",\n";
  members += added;
  return members.empty() ? "\n]\n}\n" : "\n],\n" + members + "\n}\n";
}

base::Status Report(io::ByteSource& source, const CopyHooks& hooks) {
  if (hooks.stop != nullptr && hooks.stop->requested()) {
    return base::Interrupted();
  }
  if (hooks.progress) hooks.progress(source.bytes_consumed(), source.bytes_total());
  return {};
}

base::Status CopyEvents(RawEventReader& reader, io::ByteSource& source, const CopyPlan& plan,
                        const CopyHooks& hooks, EventList& list, CopyCounts& counts) {
  LS_CHECK(plan.trace != nullptr, "a copy knows the trace that was read first");
  FirstRead first(*plan.trace);
  RawEvent event;
  for (;;) {
    base::Result<bool> more = reader.Next(event);
    if (!more.ok()) return std::move(more).error();
    if (!*more) return first.CheckEnd();
    if (counts.n_input++ % kEventsBetweenReports == 0) {
      if (base::Status go_on = Report(source, hooks); !go_on.ok()) return go_on;
    }
    if (base::Status same = first.Check(event); !same.ok()) return same;
    if (plan.keeps && !plan.keeps(event)) continue;
    ++counts.n_kept;
    counts.n_repaired += event.repaired ? 1 : 0;
    if (base::Status written = list.Write(event.text); !written.ok()) return written;
  }
}

base::Status AddEvents(io::ByteSource& source, const CopyPlan& plan, const CopyHooks& hooks,
                       EventList& list, CopyCounts& counts) {
  std::string event;
  while (plan.next_added && plan.next_added(event)) {
    if (counts.n_added++ % kEventsBetweenReports == 0) {
      if (base::Status go_on = Report(source, hooks); !go_on.ok()) return go_on;
    }
    if (base::Status written = list.Write(event); !written.ok()) return written;
  }
  return {};
}

}  // namespace

base::Result<CopyCounts> CopyTrace(io::ByteSource& source, const CopyPlan& plan,
                                   const CopyHooks& hooks, io::ByteSink& sink) {
  RawEventReader reader(source);
  CopyCounts counts;
  EventList list(sink);
  base::Status status = reader.ReadHead();
  if (status.ok()) status = sink.Write(Opening(reader));
  if (status.ok()) status = CopyEvents(reader, source, plan, hooks, list, counts);
  if (status.ok()) status = AddEvents(source, plan, hooks, list, counts);
  if (status.ok()) status = sink.Write(Closing(reader, plan.members));
  if (status.ok()) status = sink.Finish();
  if (!status.ok()) return std::move(status).error();
  return counts;
}

}  // namespace layerscope::document
