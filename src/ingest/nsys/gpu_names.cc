#include "src/ingest/nsys/gpu_names.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "src/ingest/nsys/cuda_devices.h"
#include "src/ingest/nsys/row_loop.h"
#include "src/ingest/nsys/valid_text.h"
#include "src/json/document.h"

namespace layerscope::ingest::nsys {
namespace {

using Names = std::map<int64_t, std::string>;

void AddName(int64_t gpu, std::string_view raw, trace::Ledger& ledger, Names& names) {
  std::string repaired;
  if (!raw.empty()) names.emplace(gpu, ValidText(raw, repaired, ledger));
}

Step ReadGpus(const Database& database, const Schema& schema, trace::Ledger& ledger, Names& names) {
  constexpr std::array<Column, 2> kColumns = {{{"id", true}, {"name", true}}};
  return ForEachRow(database, schema, kGpus, kColumns, ledger, [&](Row& row) {
    const int64_t gpu = row.Needed(0);
    const auto name = row.Text(1);
    if (!row.bad()) AddName(gpu, name.value_or(""), ledger, names);
  });
}

/// `{"Gpus":[{"Id":0,"Name":"NVIDIA H100 80GB HBM3", …}]}`; exports of 2022 hold bytes there.
void ParseGpuInfo(std::string_view text, trace::Ledger& ledger, Names& names) {
  const auto document = json::ParseDocument(text);
  const json::Node* gpus = document.ok() ? document->Find("Gpus") : nullptr;
  if (gpus == nullptr) return;
  for (const json::Node& gpu : gpus->items()) {
    const json::Node* id = gpu.Find("Id");
    const json::Node* name = gpu.Find("Name");
    if (id == nullptr || name == nullptr || !id->AsInt()) continue;
    AddName(*id->AsInt(), name->AsString().value_or(""), ledger, names);
  }
}

Step ReadSystemEnv(const Database& database, const Schema& schema, trace::Ledger& ledger,
                   Names& names) {
  constexpr std::array<Column, 2> kColumns = {{{"name", true}, {"value", true}}};
  return ForEachRow(database, schema, kSystemEnv, kColumns, ledger, [&](Row& row) {
    if (row.Text(0) != "GpuInfo" || !row.IsText(1)) return;
    ParseGpuInfo(row.Text(1).value_or(""), ledger, names);
  });
}

}  // namespace

Step ReadGpuNames(const Database& database, const Schema& schema, trace::Trace& trace) {
  Names names;
  CudaDevices cuda;
  Step end = ReadGpus(database, schema, trace.ledger, names);
  if (end == Step::kDone && names.empty()) {
    end = ReadSystemEnv(database, schema, trace.ledger, names);
  }
  if (end == Step::kDone) end = cuda.Read(database, schema, PidsOf(trace), trace.ledger);
  std::map<int64_t, std::string> named;
  for (const trace::Device& device : trace.devices) {
    if (device.id.text.valid()) continue;
    // Where processes number differently, devices have the numbers of GPUs already.
    const Gpu* const gpu = cuda.numbers_differ() ? nullptr : cuda.FindFirst(device.id.number);
    const auto name = names.find(gpu != nullptr && gpu->id ? *gpu->id : device.id.number);
    if (name != names.end()) named.emplace(device.id.number, name->second);
  }
  for (const auto& [device, name] : named) trace.metadata.devices.push_back({device, name});
  return end;
}

}  // namespace layerscope::ingest::nsys
