#include "bench/gen/nsys_database.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace layerscope::gen {
namespace {

using Value = NsysTableWriter::Value;

constexpr int64_t kVm = int64_t{1} << 48;
constexpr int64_t kOwnNames = 1 << 28;  // ids beyond those of the run
constexpr int64_t kPushPop = 59;        // ENUM_NSYS_EVENT_TYPE
constexpr int64_t kStartEnd = 60;
constexpr int64_t kDomainCreate = 75;
constexpr int64_t kPinned = 1;  // ENUM_CUDA_MEM_KIND
constexpr int64_t kDevice = 2;

int64_t GlobalPid(const NsysPlace& place) {
  return kVm | place.pid << 24;
}
int64_t GlobalTid(const NsysPlace& place, int64_t tid) {
  return GlobalPid(place) | tid;
}
Value OrNull(int64_t value) {
  return value == 0 ? Value() : Value(value);
}
int64_t NameId(int32_t name) {
  return name + 1;
}

const std::vector<std::string_view>& RangeColumns() {
  static const std::vector<std::string_view> kColumns = {"start",   "end",      "eventType",
                                                         "rangeId", "text",     "globalTid",
                                                         "textId",  "domainId", "endGlobalTid"};
  return kColumns;
}

// The name of a kernel's function without its namespaces and arguments.
std::string_view FunctionOf(std::string_view name) {
  const std::string_view anonymous = "(anonymous namespace)::";
  const size_t skip = name.find(anonymous);
  if (skip != std::string_view::npos) name.remove_prefix(skip + anonymous.size());
  if (const size_t kernel = name.find("_kernel<"); kernel != std::string_view::npos)
    name = name.substr(0, kernel + 7);
  name = name.substr(0, name.find_first_of("<("));
  return name.substr(name.find_last_of(": ") + 1);  // npos + 1 is 0
}

// All rows of one kind, of all processes, in the order in which they are written.
template <typename Row>
std::vector<std::pair<const NsysPlace*, const Row*>> InOrder(const std::vector<NsysRowsOf>& all,
                                                             std::vector<Row> NsysRows::*member,
                                                             bool shuffle, Random* random) {
  std::vector<std::pair<const NsysPlace*, const Row*>> rows;
  for (const NsysRowsOf& of : all) {
    for (const Row& row : of.rows->*member) rows.emplace_back(&of.place, &row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->start_ns < b.second->start_ns;
  });
  for (size_t i = rows.size(); shuffle && i > 1; --i)
    std::swap(rows[i - 1], rows[random->Next() % i]);
  return rows;
}

}  // namespace

std::string_view NsysGpuName() {
  return "NVIDIA H100 80GB HBM3";
}

NsysDatabase::~NsysDatabase() {
  writers_.clear();
  sqlite3_close(database_);
}

bool NsysDatabase::Open(const NsysOptions& options, const NsysNames& names, std::string* error) {
  o_ = &options;
  names_ = &names;
  random_ = Random(options.seed + 17);
  tables_ = NsysTables(options.schema);
  std::remove(options.output.c_str());
  const bool open =
      sqlite3_open(options.output.c_str(), &database_) == SQLITE_OK &&
      sqlite3_exec(database_, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", nullptr,
                   nullptr, nullptr) == SQLITE_OK;
  if (!open) *error = "cannot write " + options.output;
  return open;
}

bool NsysDatabase::Has(std::string_view table) const {
  return std::any_of(tables_.begin(), tables_.end(),
                     [table](const NsysTable& has) { return has.name == table; });
}

NsysTableWriter& NsysDatabase::Table(std::string_view name,
                                     const std::vector<std::string_view>& columns) {
  const auto found = writers_.find(name);
  if (found != writers_.end()) return *found->second;
  const auto table = std::find_if(tables_.begin(), tables_.end(),
                                  [name](const NsysTable& has) { return has.name == name; });
  return *writers_
              .emplace(std::string(name),
                       std::make_unique<NsysTableWriter>(database_, *table, columns))
              .first->second;
}

// ---- rows

void NsysDatabase::WriteRanges(const NsysPlace& place, const NsysRange& range) {
  const int64_t tid = GlobalTid(place, range.tid);
  const std::string_view text = (*names_)[range.text];
  Table("NVTX_EVENTS", RangeColumns())
      .Insert({range.start_ns, range.end_ns == kNsysOpen ? Value() : Value(range.end_ns),
               range.start_end ? kStartEnd : kPushPop,
               range.start_end ? Value(range.start_ns) : Value(),
               range.registered ? Value() : Value(text), tid,
               range.registered ? Value(NameId(range.text)) : Value(), range.domain,
               range.start_end ? Value(tid) : Value()});
}

void NsysDatabase::WriteCall(const NsysPlace& place, const NsysCall& call) {
  static const std::vector<std::string_view> kColumns = {"start",     "end",           "eventClass",
                                                         "globalTid", "correlationId", "nameId"};
  const bool runtime = (*names_)[call.name].substr(0, 4) == "cuda";
  Table("CUPTI_ACTIVITY_KIND_RUNTIME", kColumns)
      .Insert({call.start_ns, call.end_ns, runtime ? 0 : 1, GlobalTid(place, call.tid),
               call.correlation, NameId(call.name)});
}

void NsysDatabase::WriteKernel(const NsysPlace& place, const NsysActivity& activity) {
  static const std::vector<std::string_view> kColumns = {
      "start",     "end",           "deviceId",  "contextId",   "streamId",    "correlationId",
      "globalPid", "demangledName", "shortName", "mangledName", "graphNodeId", "graphId"};
  Table("CUPTI_ACTIVITY_KIND_KERNEL", kColumns)
      .Insert({activity.start_ns, activity.end_ns, place.device, place.context, activity.stream,
               activity.correlation, GlobalPid(place), NameId(activity.name),
               ShortName(activity.name), NameId(activity.name), OrNull(activity.node),
               OrNull(activity.graph)});
}

void NsysDatabase::WriteCopy(const NsysPlace& place, const NsysActivity& activity) {
  static const std::vector<std::string_view> kCopy = {
      "start",     "end",         "deviceId", "contextId", "streamId", "correlationId",
      "globalPid", "graphNodeId", "copyKind", "srcKind",   "dstKind",  "bytes"};
  static const std::vector<std::string_view> kSet(kCopy.begin(), kCopy.begin() + 8);
  if (activity.kind == NsysKind::kMemset) {
    Table("CUPTI_ACTIVITY_KIND_MEMSET", kSet)
        .Insert({activity.start_ns, activity.end_ns, place.device, place.context, activity.stream,
                 activity.correlation, GlobalPid(place), OrNull(activity.node)});
    return;
  }
  const bool from_host = activity.copy == NsysCopy::kHostToDevice;
  const bool to_host = activity.copy == NsysCopy::kDeviceToHost;
  Table("CUPTI_ACTIVITY_KIND_MEMCPY", kCopy)
      .Insert({activity.start_ns, activity.end_ns, place.device, place.context, activity.stream,
               activity.correlation, GlobalPid(place), OrNull(activity.node),
               static_cast<int64_t>(activity.copy), from_host ? kPinned : kDevice,
               to_host ? kPinned : kDevice, activity.bytes});
}

void NsysDatabase::WriteActivity(const NsysPlace& place, const NsysActivity& activity) {
  static const std::vector<std::string_view> kColumns = {"start",     "end",      "deviceId",
                                                         "contextId", "streamId", "correlationId",
                                                         "globalPid", "graphId",  "graphExecId"};
  if (activity.kind == NsysKind::kKernel) return WriteKernel(place, activity);
  if (activity.kind != NsysKind::kGraph) return WriteCopy(place, activity);
  Table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kColumns)
      .Insert({activity.start_ns, activity.end_ns, place.device, place.context, activity.stream,
               activity.correlation, GlobalPid(place), activity.graph, activity.graph});
}

void NsysDatabase::WriteNode(const NsysPlace& place, const NsysNode& node) {
  static const std::vector<std::string_view> kColumns = {
      "start", "end", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId"};
  const bool old = o_->schema == NsysOptions::Schema::k2022_2;
  Table(old ? "CUDA_GRAPH_EVENTS" : "CUDA_GRAPH_NODE_EVENTS", kColumns)
      .Insert({node.start_ns, node.end_ns, GlobalTid(place, node.tid), NameId(node.name), node.node,
               OrNull(node.original)});
}

void NsysDatabase::Write(const std::vector<NsysRowsOf>& all) {
  for (const auto& [place, row] : InOrder(all, &NsysRows::ranges, o_->shuffle, &random_))
    WriteRanges(*place, *row);
  for (const auto& [place, row] : InOrder(all, &NsysRows::calls, o_->shuffle, &random_))
    WriteCall(*place, *row);
  for (const auto& [place, row] : InOrder(all, &NsysRows::activities, o_->shuffle, &random_))
    WriteActivity(*place, *row);
  for (const auto& [place, row] : InOrder(all, &NsysRows::nodes, o_->shuffle, &random_))
    WriteNode(*place, *row);
}

// ---- what the run itself does not tell

int64_t NsysDatabase::ShortName(int32_t name) {
  const auto at = static_cast<size_t>(name);
  if (short_names_.size() <= at) short_names_.resize(at + 1, 0);
  if (short_names_[at] == 0) {
    const auto id = kOwnNames + static_cast<int64_t>(own_names_.size());
    short_names_[at] =
        own_names_.try_emplace(std::string(FunctionOf((*names_)[name])), id).first->second;
  }
  return short_names_[at];
}

void NsysDatabase::WriteDomains(const NsysRankTruth& rank) {
  if (!o_->domains) return;
  Table("NVTX_EVENTS", RangeColumns())
      .Insert({rank.first_ns + 10, Value(), kDomainCreate, Value(), std::string_view("NCCL"),
               GlobalTid(rank.place, rank.place.pid), Value(), 1, Value()});
}

void NsysDatabase::WriteProcess(const NsysRankTruth& rank) {
  const NsysPlace& place = rank.place;
  const std::string name = "VLLM::Worker_TP" + std::to_string(place.rank);
  Table("PROCESSES", {"globalPid", "pid", "name"})
      .Insert({GlobalPid(place), place.pid, std::string_view(name)});
  const auto id = kOwnNames + static_cast<int64_t>(own_names_.size());
  const int64_t thread = own_names_.try_emplace("python3", id).first->second;
  Table("ThreadNames", {"nameId", "globalTid"}).Insert({thread, GlobalTid(place, place.pid)});
}

void NsysDatabase::WriteGpu(const NsysRankTruth& rank) {
  const NsysPlace& place = rank.place;
  if (!o_->gpu_info) return;
  // Where each process calls its GPU device 0 they are different GPUs all the same.
  if (!o_->one_gpu || place.rank == 0) {
    Table("TARGET_INFO_GPU", {"vmId", "id", "name", "busLocation", "smCount", "cuDevice"})
        .Insert(
            {kVm, place.gpu, NsysGpuName(), std::string_view("0000:19:00.0"), 132, place.device});
  }
  if (Has("TARGET_INFO_CUDA_DEVICE")) {
    Table("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid", "numMultiprocessors"})
        .Insert({place.gpu, place.device, place.pid, 132});
  }
}

void NsysDatabase::WriteSession(const NsysTruth& truth) {
  int64_t last_ns = 0;
  for (const NsysRankTruth& rank : truth.ranks) last_ns = std::max(last_ns, rank.last_ns);
  const std::string_view meta = Has("META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
  using Pair = std::pair<std::string_view, std::string_view>;
  for (const auto& [name, value] : {Pair("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
                                    Pair("EXPORT_PRODUCT_VERSION", NsysProductVersion(o_->schema)),
                                    Pair("EXPORT_SCHEMA_VERSION", NsysSchemaVersion(o_->schema)),
                                    Pair("EXPORT_PARAM_EXPORT_TYPE", "SQLite")})
    Table(meta, {"name", "value"}).Insert({name, value});
  if (Has("META_DATA_CAPTURE")) {
    const bool prefixed = o_->schema < NsysOptions::Schema::k2025_5;
    const bool whole = o_->launch == NsysOptions::Launch::kWhole;
    const std::string name =
        std::string(prefixed ? "PROCESS_0:" : "") + "CUDA_GRAPH_TRACE_OPTIONS:MODE";
    Table("META_DATA_CAPTURE", {"name", "value"})
        .Insert({std::string_view(name), std::string_view(whole ? "Graph" : "Node")});
  }
  Table("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", "utcTime", "localTime", "systemClockNs"})
      .Insert({kNsysSessionStart, std::string_view("2026-04-01T21:22:30"),
               std::string_view("2026-04-01T21:22:30"), 38133239887});
  Table("ANALYSIS_DETAILS", {"globalVid", "duration", "startTime", "stopTime"})
      .Insert({kVm, last_ns, 0, last_ns});
  Table("TARGET_INFO_SYSTEM_ENV", {"globalVid", "devStateName", "name", "nameEnum", "value"})
      .Insert({kVm, std::string_view("Local (CLI)"), std::string_view("CpuCores"), 1,
               std::string_view("18")});
}

void NsysDatabase::WriteNames() {
  NsysTableWriter& table = Table("StringIds", {"id", "value"});
  for (size_t i = 0; i < names_->size(); ++i) {
    const auto name = static_cast<int32_t>(i);
    table.Insert({NameId(name), (*names_)[name]});
  }
  for (const auto& [text, id] : own_names_) table.Insert({id, std::string_view(text)});
}

bool NsysDatabase::Finish(const NsysTruth& truth, std::string* error) {
  for (const NsysRankTruth& rank : truth.ranks) {
    WriteDomains(rank);
    WriteProcess(rank);
    WriteGpu(rank);
  }
  WriteSession(truth);
  WriteNames();
  // In 2022 every table was there.
  if (o_->schema == NsysOptions::Schema::k2022_2) {
    for (const NsysTable& table : tables_) Table(table.name, {}).Create();
  }
  bool failed = false;
  for (const auto& [name, writer] : writers_) failed |= writer->failed();
  writers_.clear();
  failed |= sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK;
  failed |= sqlite3_close(database_) != SQLITE_OK;
  database_ = nullptr;
  if (failed) *error = "cannot write " + o_->output;
  return !failed;
}

}  // namespace layerscope::gen
