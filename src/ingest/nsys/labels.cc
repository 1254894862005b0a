#include "src/ingest/nsys/labels.h"

#include <array>
#include <limits>
#include <string>

#include "src/ingest/nsys/row_loop.h"
#include "src/ingest/nsys/valid_text.h"

namespace layerscope::ingest::nsys {
namespace {

constexpr std::array<Column, 3> kThreadNameColumns = {
    {{"nameId", true}, {"priority"}, {"globalTid", true}}};
constexpr std::array<Column, 2> kProcessColumns = {{{"globalPid", true}, {"name", true}}};
constexpr std::array<Column, 2> kRankColumns = {{{"globalTid", true}, {"rank", true}}};

Step ReadProcessNames(const Database& database, const Schema& schema, RowDictionary& dictionary,
                      trace::Trace& trace) {
  std::string repaired;
  return ForEachRow(database, schema, kProcesses, kProcessColumns, trace.ledger, [&](Row& row) {
    if (row.IsNull(0) || row.IsNull(1)) return;
    const trace::ProcessId process = dictionary.FindProcess(row.Needed(0));
    const auto name = row.Text(1);
    if (row.bad() || !process.valid()) return;
    trace.processes[process.index()].name =
        dictionary.Text(ValidText(*name, repaired, trace.ledger));
  });
}

Step ReadRanks(const Database& database, const Schema& schema, const RowDictionary& dictionary,
               trace::Trace& trace) {
  const Step end =
      ForEachRow(database, schema, kMpiRanks, kRankColumns, trace.ledger, [&](Row& row) {
        const trace::ProcessId process = dictionary.FindProcess(row.Needed(0));
        const int64_t rank = row.Needed(1);
        if (row.bad() || !process.valid() || rank < 0) return;
        trace.processes[process.index()].rank = rank;
      });
  // One process's rank is the file's.
  if (trace.processes.size() == 1) trace.metadata.rank = trace.processes.front().rank;
  return end;
}

}  // namespace

Step Labels::ReadThreadNames(const Database& database, const Schema& schema,
                             RowDictionary& dictionary, trace::Ledger& ledger) {
  thread_names_.resize(dictionary.threads().size());
  // The smaller number wins: 0 is what the program said, 20 what the system knows.
  std::vector<int64_t> priorities(thread_names_.size(), std::numeric_limits<int64_t>::max());
  return ForEachRow(database, schema, kThreadNames, kThreadNameColumns, ledger, [&](Row& row) {
    enum : int { kName, kPriority, kThread };
    if (row.IsNull(kThread)) return;
    const trace::ThreadId thread = dictionary.FindThread(row.Needed(kThread));
    const int64_t name = row.Needed(kName);
    const int64_t priority = row.IntegerOr(kPriority, std::numeric_limits<int64_t>::max() - 1);
    if (row.bad() || !thread.valid() || priority >= priorities[thread.index()]) return;
    priorities[thread.index()] = priority;
    thread_names_[thread.index()] = dictionary.TableString(name, kAsName);
  });
}

Step Labels::Read(const Database& database, const Schema& schema, RowDictionary& dictionary,
                  trace::Trace& trace) {
  Step end = ReadThreadNames(database, schema, dictionary, trace.ledger);
  if (end == Step::kDone) end = ReadProcessNames(database, schema, dictionary, trace);
  if (end == Step::kDone) end = ReadRanks(database, schema, dictionary, trace);
  return end;
}

}  // namespace layerscope::ingest::nsys
