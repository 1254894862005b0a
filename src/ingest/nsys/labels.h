#pragma once

#include <vector>

#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/row_dictionary.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// What the tables ThreadNames, PROCESSES and MPI_RANKS say of the threads and processes that rows
/// name: `trace`'s process and thread i are the dictionary's.
class Labels {
 public:
  /// Names of threads are wanted of StringIds: before ReadTableStrings. Ranks and names of
  /// processes are set at once. Returns kDone, kStopped or kOutOfMemory.
  Step Read(const Database& database, const Schema& schema, RowDictionary& dictionary,
            trace::Trace& trace);
  /// By ThreadId: the name in StringIds that nsys gives the most weight; invalid: none.
  const std::vector<trace::StringId>& thread_names() const { return thread_names_; }

 private:
  Step ReadThreadNames(const Database& database, const Schema& schema, RowDictionary& dictionary,
                       trace::Ledger& ledger);

  std::vector<trace::StringId> thread_names_;
};

}  // namespace layerscope::ingest::nsys
