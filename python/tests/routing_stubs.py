"""Sources of modules with the classes, signatures and forms of result of the engines' routing.

What they compute is the collapse that dummy weights give: every token takes the first experts. The
signatures are those of vLLM (`fused_moe/router/base_router.py`, 2026), SGLang 0.5
(`layers/moe/topk.py`) and TensorRT-LLM 1.x (`fused_moe/routing.py`).
"""

_BASE = "import torch\nfrom typing import NamedTuple\n"
_COLLAPSED = """
def collapsed(router_logits, k):
    tokens = router_logits.shape[0]
    ids = torch.arange(k, dtype=torch.int32).repeat(tokens, 1)
    return torch.full((tokens, k), 1.0 / k), ids
"""
VLLM_ROUTER = (
    _BASE
    + _COLLAPSED
    + """
class BaseRouter:
    def __init__(self, top_k, global_num_experts, eplb_state=None, enable_eplb=False,
                 indices_type_getter=None):
        self.top_k = top_k
        self.global_num_experts = global_num_experts

    def _compute_routing(self, hidden_states, router_logits, indices_type, *, input_ids=None):
        raise NotImplementedError

    def select_experts(self, hidden_states, router_logits, *, input_ids=None):
        return self._compute_routing(hidden_states, router_logits, None, input_ids=input_ids)


class FusedTopKRouter(BaseRouter):
    def _compute_routing(self, hidden_states, router_logits, indices_type, *, input_ids=None):
        weights, ids = collapsed(router_logits, self.top_k)
        return weights, ids, None
"""
)
VLLM_LAYER_OF_OLD = (
    _BASE
    + _COLLAPSED
    + """
class FusedMoE(torch.nn.Module):
    @staticmethod
    def select_experts(hidden_states, router_logits, top_k, use_grouped_topk, renormalize,
                       topk_group=None, num_expert_group=None, custom_routing_function=None,
                       scoring_func="softmax", routed_scaling_factor=1.0,
                       e_score_correction_bias=None, indices_type=None):
        return collapsed(router_logits, top_k)
"""
)
VLLM_METHOD = (
    _BASE
    + """
class FusedMoEMethodBase:
    pass


class MonolithicMethod(FusedMoEMethodBase):
    def apply_monolithic(self, layer, x, router_logits, input_ids=None):
        return router_logits.topk(layer.top_k).indices
"""
)
SGLANG_TOPK = (
    _BASE
    + _COLLAPSED
    + """
from dataclasses import dataclass


@dataclass
class TopKConfig:
    top_k: int
    num_fused_shared_experts: int = 0
    output_format: str = "standard"


class StandardTopKOutput(NamedTuple):
    topk_weights: torch.Tensor
    topk_ids: torch.Tensor
    router_logits: torch.Tensor


class TritonKernelTopKOutput(NamedTuple):
    routing_data: torch.Tensor
    gather_indx: torch.Tensor
    scatter_indx: torch.Tensor


class BypassedTopKOutput(NamedTuple):
    hidden_states: torch.Tensor
    router_logits: torch.Tensor
    topk_config: TopKConfig


def select_experts(hidden_states, router_logits, topk_config, *, layer_id=None,
                   num_token_non_padded=None, expert_location_dispatch_info=None):
    weights, ids = collapsed(router_logits, topk_config.top_k)
    shared = topk_config.num_fused_shared_experts
    if shared:
        ids[:, -shared:] = router_logits.shape[1]  # the fused expert comes after the routed ones
    if num_token_non_padded is not None:
        ids[num_token_non_padded:] = -1
    return StandardTopKOutput(weights, ids, router_logits)


class TopK(torch.nn.Module):
    def __init__(self, top_k, *, layer_id=None, num_fused_shared_experts=0, output_format=None):
        super().__init__()
        self.topk_config = TopKConfig(top_k, num_fused_shared_experts, output_format)
        self._forward_method = self.forward_cuda  # MultiPlatformOp chooses when it is made

    def forward(self, *args, **kwargs):
        return self._forward_method(*args, **kwargs)

    def forward_cuda(self, hidden_states, router_logits, *, num_token_non_padded=None,
                     expert_location_dispatch_info=None):
        config = self.topk_config
        if config.output_format == "triton":
            chosen = router_logits.topk(config.top_k).indices
            return TritonKernelTopKOutput(chosen, chosen, chosen)
        if config.output_format == "bypassed":
            return BypassedTopKOutput(hidden_states, router_logits, config)
        return select_experts(hidden_states, router_logits, config,
                              num_token_non_padded=num_token_non_padded)


class HashTopK(torch.nn.Module):
    def forward(self, hidden_states, router_logits, input_ids):
        weights, ids = collapsed(router_logits, 2)
        return StandardTopKOutput(weights, ids, router_logits)
"""
)
TRTLLM_ROUTING = (
    _BASE
    + _COLLAPSED
    + """
class BaseMoeRoutingMethod(torch.nn.Module):
    def apply(self, _router_logits):
        raise NotImplementedError


class RenormalizeMoeRoutingMethod(BaseMoeRoutingMethod):
    def __init__(self, top_k):
        super().__init__()
        self.top_k = top_k

    def apply(self, router_logits, input_ids=None):
        weights, ids = collapsed(router_logits, self.top_k)
        return ids, weights


class RenormalizeNaiveMoeRoutingMethod(RenormalizeMoeRoutingMethod):
    def apply(self, router_logits):
        return super().apply(router_logits)
"""
)
