#include "bench/gen/nsys_schema.h"

#include <algorithm>
#include <array>

namespace layerscope::gen {
namespace {

using Schema = NsysOptions::Schema;
using Columns = std::vector<NsysColumn>;

constexpr std::string_view kInt = "INTEGER";
constexpr std::string_view kMust = "INTEGER NOT NULL";
constexpr std::string_view kText = "TEXT";
constexpr std::string_view kMustText = "TEXT NOT NULL";
constexpr std::string_view kReal = "REAL";

NsysColumn Since(Schema since, std::string_view name, std::string_view type,
                 std::string_view otherwise = {}) {
  return {name, type, otherwise, since, Schema::k2026_2};
}

NsysTable Kernels() {
  const Schema k24 = Schema::k2024_5;
  const Schema k25 = Schema::k2025_5;
  return {"CUPTI_ACTIVITY_KIND_KERNEL",
          {{"start", kMust},
           {"end", kMust},
           {"deviceId", kMust},
           {"contextId", kMust},
           Since(k24, "greenContextId", kInt),
           {"streamId", kMust},
           {"correlationId", kInt},
           {"globalPid", kInt},
           {"demangledName", kMust},
           {"shortName", kMust},
           {"mangledName", kInt},
           {"launchType", kInt, "1"},
           {"cacheConfig", kInt, "1"},
           {"registersPerThread", kMust, "32"},
           {"gridX", kMust, "132"},
           {"gridY", kMust, "1"},
           {"gridZ", kMust, "1"},
           {"blockX", kMust, "128"},
           {"blockY", kMust, "1"},
           {"blockZ", kMust, "1"},
           {"staticSharedMemory", kMust, "0"},
           {"dynamicSharedMemory", kMust, "0"},
           {"localMemoryPerThread", kMust, "0"},
           {"localMemoryTotal", kMust, "250871808"},
           {"gridId", kMust, "1"},
           {"sharedMemoryExecuted", kInt, "32768"},
           {"graphNodeId", kInt},
           {"sharedMemoryLimitConfig", kInt, "0"},
           Since(k25, "qmdBulkReleaseDone", kInt),
           Since(k25, "qmdPreexitDone", kInt),
           Since(k25, "qmdLastCtaDone", kInt),
           Since(k25, "graphId", kInt),
           Since(k25, "clusterX", kInt, "0"),
           Since(k25, "clusterY", kInt, "0"),
           Since(k25, "clusterZ", kInt, "0"),
           Since(k25, "clusterSchedulingPolicy", kInt, "1"),
           Since(k25, "maxPotentialClusterSize", kInt, "0"),
           Since(k25, "maxActiveClusters", kInt, "0"),
           Since(Schema::k2026_2, "sharedMemoryRequestedPercentage", kInt),
           Since(Schema::k2026_2, "tensorSizeMinusOneElements", kMustText, "'[]'")}};
}

NsysTable Copies() {
  return {"CUPTI_ACTIVITY_KIND_MEMCPY",
          {{"start", kMust},
           {"end", kMust},
           {"deviceId", kMust},
           {"contextId", kMust},
           Since(Schema::k2024_5, "greenContextId", kInt),
           {"streamId", kMust},
           {"correlationId", kInt},
           {"globalPid", kInt},
           {"bytes", kMust, "4096"},
           {"copyKind", kMust},
           {"deprecatedSrcId", kInt},
           {"srcKind", kInt},
           {"dstKind", kInt},
           {"srcDeviceId", kInt},
           {"srcContextId", kInt},
           {"dstDeviceId", kInt},
           {"dstContextId", kInt},
           {"migrationCause", kInt},
           {"graphNodeId", kInt},
           {"virtualAddress", kInt},
           Since(Schema::k2025_5, "copyCount", kInt, "1")}};
}

NsysTable Sets() {
  return {"CUPTI_ACTIVITY_KIND_MEMSET",
          {{"start", kMust},
           {"end", kMust},
           {"deviceId", kMust},
           {"contextId", kMust},
           Since(Schema::k2025_5, "greenContextId", kInt),
           {"streamId", kMust},
           {"correlationId", kInt},
           {"globalPid", kInt},
           {"value", kMust, "0"},
           {"bytes", kMust, "4096"},
           {"graphNodeId", kInt},
           {"memKind", kInt, "2"}}};
}

NsysTable WholeGraphs() {
  return {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
          {{"start", kMust},
           {"end", kMust},
           {"deviceId", kMust},
           {"contextId", kMust},
           Since(Schema::k2024_5, "greenContextId", kInt),
           {"streamId", kMust},
           {"correlationId", kInt},
           {"globalPid", kInt},
           {"graphId", kMust},
           {"graphExecId", kMust}}};
}

NsysTable Calls() {
  return {"CUPTI_ACTIVITY_KIND_RUNTIME",
          {{"start", kMust},
           {"end", kMust},
           {"eventClass", kMust},
           {"globalTid", kInt},
           {"correlationId", kInt},
           {"nameId", kMust},
           {"returnValue", kMust, "0"},
           {"callchainId", kInt}}};
}

NsysTable Ranges() {
  return {"NVTX_EVENTS", {{"start", kMust},       {"end", kInt},
                          {"eventType", kMust},   {"rangeId", kInt},
                          {"category", kInt},     {"color", kInt},
                          {"text", kText},        {"globalTid", kInt},
                          {"endGlobalTid", kInt}, {"textId", kInt},
                          {"domainId", kInt},     {"uint64Value", kInt},
                          {"int64Value", kInt},   {"doubleValue", kReal},
                          {"uint32Value", kInt},  {"int32Value", kInt},
                          {"floatValue", kReal},  {"jsonTextId", kInt},
                          {"jsonText", kText},    Since(Schema::k2026_2, "binaryData", kText)}};
}

Columns NodeColumns() {
  return {
      {"start", kMust},  {"end", kMust},         {"eventClass", kMust, "26"},  {"globalTid", kInt},
      {"nameId", kMust}, {"graphNodeId", kMust}, {"originalGraphNodeId", kInt}};
}

// In 2022 the table of nodes had the name that whole graphs got later.
std::vector<NsysTable> Graphs() {
  return {{"CUDA_GRAPH_EVENTS", NodeColumns(), Schema::k2022_2, Schema::k2022_2},
          {"CUDA_GRAPH_NODE_EVENTS", NodeColumns(), Schema::k2023_3},
          {"CUDA_GRAPH_EVENTS",
           {{"start", kMust},
            {"end", kMust},
            {"eventClass", kMust, "26"},
            {"globalTid", kInt},
            {"nameId", kMust},
            {"graphId", kInt},
            {"originalGraphId", kInt},
            {"graphExecId", kInt}},
           Schema::k2023_3}};
}

std::vector<NsysTable> Machine() {
  const Schema k24 = Schema::k2024_5;
  const Schema k25 = Schema::k2025_5;
  const Schema k26 = Schema::k2026_2;
  return {{"TARGET_INFO_SESSION_START_TIME",
           {{"utcEpochNs", kInt},
            {"utcTime", kText},
            {"localTime", kText},
            Since(k26, "systemClockNs", kInt)}},
          {"TARGET_INFO_SYSTEM_ENV",
           {{"globalVid", kInt},
            {"devStateName", kMustText},
            {"name", kMustText},
            {"nameEnum", kMust},
            {"value", kMustText}}},
          {"TARGET_INFO_GPU",
           {{"vmId", kMust},
            {"id", kMust},
            {"name", kText},
            {"busLocation", kText},
            {"totalMemory", kInt},
            {"smCount", kInt},
            {"uuid", kText},
            {"chipName", kText},
            {"cuDevice", kInt}}},
          {"TARGET_INFO_CUDA_DEVICE",
           {{"gpuId", kInt},
            {"cudaId", kMust},
            {"pid", kMust},
            Since(k26, "uuid", kText),
            Since(k26, "numMultiprocessors", kInt)},
           k25},
          {"TARGET_INFO_CUDA_CONTEXT_INFO",
           {{"nullStreamId", kMust},
            {"hwId", kMust},
            {"vmId", kMust},
            {"processId", kMust},
            {"deviceId", kMust},
            {"contextId", kMust},
            {"parentContextId", kInt},
            {"isGreenContext", kInt, "0"},
            Since(k26, "numMultiprocessors", kInt)},
           k24}};
}

std::vector<NsysTable> Names() {
  const Columns pairs = {{"name", kMustText}, {"value", kText}};
  return {{"StringIds", {{"id", "INTEGER NOT NULL PRIMARY KEY"}, {"value", kMustText}}},
          {"ThreadNames", {{"nameId", kMust}, {"priority", kInt, "20"}, {"globalTid", kInt}}},
          {"PROCESSES", {{"globalPid", kInt}, {"pid", kInt}, {"name", kText}}},
          {"EXPORT_META_DATA", pairs, Schema::k2022_2, Schema::k2022_2},
          {"META_DATA_EXPORT", pairs, Schema::k2023_3},
          {"META_DATA_CAPTURE", pairs, Schema::k2023_3},
          {"ANALYSIS_DETAILS",
           {{"globalVid", kMust}, {"duration", kMust}, {"startTime", kMust}, {"stopTime", kMust}}}};
}

// Made in 2022 although nothing was in them.
std::vector<NsysTable> EmptyTables() {
  const Columns events = {{"start", kMust}, {"end", kMust}, {"globalTid", kInt}, {"nameId", kMust}};
  std::vector<NsysTable> tables;
  for (const std::string_view name :
       {"OSRT_API", "CUBLAS_EVENTS", "CUDNN_EVENTS", "PROFILER_OVERHEAD", "MPI_P2P_EVENTS"})
    tables.push_back({name, events, Schema::k2022_2, Schema::k2022_2});
  return tables;
}

}  // namespace

std::vector<NsysTable> NsysTables(Schema schema) {
  std::vector<NsysTable> tables = {Kernels(), Copies(), Sets(), WholeGraphs(), Calls(), Ranges()};
  for (const auto& more : {Graphs(), Machine(), Names(), EmptyTables()})
    tables.insert(tables.end(), more.begin(), more.end());
  std::vector<NsysTable> of_version;
  for (NsysTable& table : tables) {
    if (schema < table.since || schema > table.until) continue;
    auto& columns = table.columns;
    columns.erase(std::remove_if(columns.begin(), columns.end(),
                                 [&](const NsysColumn& column) { return !column.In(schema); }),
                  columns.end());
    of_version.push_back(std::move(table));
  }
  return of_version;
}

std::string_view NsysProductVersion(Schema schema) {
  constexpr std::array<std::string_view, 5> kVersions = {
      "2022.2.1.31", "2023.3.3.42", "2024.5.1.113", "2025.5.2.266", "2026.2.1.210"};
  return kVersions[static_cast<size_t>(schema)];
}

std::string_view NsysSchemaVersion(Schema schema) {
  constexpr std::array<std::string_view, 5> kVersions = {"2.9.1", "3.4.0", "3.13.2", "3.24.0",
                                                         "3.25.0"};
  return kVersions[static_cast<size_t>(schema)];
}

}  // namespace layerscope::gen
