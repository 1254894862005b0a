#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::model {

/// A call of a kernel in Inductor's generated Python code (output_code.py), as the comments before
/// it tell: `Topologically Sorted Source Nodes: […], Original ATen: […]` and
/// `[Provenance debug handles] kernel:N`. CPU kernels have the handle alone.
struct OutputCodeCall {
  std::string kernel;
  int64_t number = -1;                    ///< N; -1: the handle has none
  std::vector<std::string> source_nodes;  ///< of the graph before AOTAutograd
  std::vector<std::string> ops;           ///< "mul", in the graph's order, without "aten."
};

struct OutputCode {
  std::optional<int64_t> graph;  ///< of `# AOT ID: ['0_inference']`
  std::vector<OutputCodeCall> calls;
};

OutputCode ParseOutputCode(std::string_view text);

/// "kernel:12" -> "kernel" and 12; without a number the whole and -1.
void SplitHandle(std::string_view handle, std::string& kernel, int64_t& number);

}  // namespace layerscope::model
