#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::model {

/// One statement of an FX graph as PyTorch prints it:
/// `mul_3: "f32[4, 32]" = torch.ops.aten.mul.Tensor(embedding, rsqrt);  rsqrt = None`.
struct GraphStatement {
  std::string_view node;   ///< "mul_3"
  std::string_view value;  ///< "torch.ops.aten.mul.Tensor(embedding, rsqrt)"
};

/// Calls `take` for every statement of the text, in order; lines that are none are passed over.
void ForEachGraphStatement(std::string_view text,
                           const std::function<void(const GraphStatement&)>& take);

/// The operator that a statement calls, "mul" of torch.ops.aten.mul.Tensor(…); empty: none.
std::string_view OperatorOf(std::string_view value);

/// The operator that the name of a graph node tells: FX names nodes after what they call and adds a
/// number: "mul_3" -> "mul". "_2" alone and names without a number stay.
std::string_view OperatorOfNode(std::string_view node);

/// Paths of the modules whose parameters or buffers a statement reads, each once, as dynamo writes
/// them: l_self_modules_layers_modules_0_modules_mlp_parameters_weight_ -> "layers.0.mlp". They
/// start at the compiled module; its own parameters tell nothing and are left out.
std::vector<std::string> ModulesRead(std::string_view value);

}  // namespace layerscope::model
