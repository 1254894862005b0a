#pragma once

#include <optional>

#include "src/analysis/rank_view.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// Why a verb has nothing to show of a file, whatever its format: one function and one code for
/// each thing that may be missing. Absent where it is there.

/// `no_gpu_work`: the file holds no kernel, copy, set or graph, so nothing can be said of a GPU.
std::optional<table::Abstention> WithoutGpuWork(const RankInput& rank);

/// The same for verbs that show the CPU time of a trace without GPU work, or what a graph capture
/// recorded: it has no op either, and is no capture.
std::optional<table::Abstention> WithoutWork(const RankView& view);

/// `no_steps`: no annotation of the file is an engine's step. `lost_kernels`, `lost_calls`: a
/// database lacks a table, so that nothing says when the GPU was busy, or what a step launched
/// (lost_tables.h). WithoutWork goes before.
std::optional<table::Abstention> WithoutSteps(const RankView& view);

/// `lost_names`: a database lacks the names of its calls, so that what waits is not known.
std::optional<table::Abstention> WithoutNames(const RankView& view);

/// `no_module_ranges`: a database without NVTX ranges of modules. WithoutWork goes before.
std::optional<table::Abstention> WithoutModules(const RankView& view);

}  // namespace layerscope::analysis
