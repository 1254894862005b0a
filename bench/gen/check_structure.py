"""Checks the key `structure` of a truth file against the text of the trace.

Only ordinals, places and names are taken from the truth; counts, sums and times are computed anew
from the events. `GRID` lists option lists that reach every family and every oddity.
"""
from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, Protocol

Json = dict[str, Any]


class Comparison(Protocol):
    def equal(self, what: str, truth: object, found: object) -> None: ...


FAMILIES = ['dsv4_csa_hca', 'dsv41', 'dsv3_mla', 'mla_dsa', 'kimi_k3', 'glm5_next', 'hy_v4',
            'qwen4_exp', 'nemotron_h', 'longcat_flash', 'gemma4', 'generic_addnorm', 'generic',
            'dense', 'hf_eager']
SMALL = ['--passes', '4', '--layers', '9', '--requests', '4', '--prompt', '64']

GRID: dict[str, list[str]] = {
    **{name + '_' + mode: ['--family', name, '--launch', mode] for name in FAMILIES
       for mode in ('eager', 'graph', 'piecewise')},
    'amd': ['--family', 'dense', '--amd', '--steps', 'sglang'],
    'inductor': ['--family', 'dense', '--inductor', '--launch', 'graph'],
    'fused_allreduce': ['--family', 'generic_addnorm', '--tp', '8', '--fused-allreduce'],
    'side_stream': ['--family', 'dsv4_csa_hca', '--side-streams', '1', '--launch', 'graph'],
    'comm_stream': ['--family', 'dsv3_mla', '--tp', '8', '--comm-stream'],
    'cold': ['--family', 'dsv4_csa_hca', '--cold', '2', '--passes', '7'],
    'foreign': ['--family', 'dense', '--foreign', '3'],
    'copies': ['--family', 'gemma4', '--layer-copies'],
    'dependent': ['--family', 'glm5_next', '--pdl', '--launch', 'graph'],
    'no_steps': ['--family', 'kimi_k3', '--steps', 'none', '--no-modules'],
    'no_steps_graph': ['--family', 'kimi_k3', '--steps', 'none', '--launch', 'graph'],
    'gpu_only': ['--family', 'qwen4_exp', '--gpu-only', '--launch', 'graph'],
    'draft': ['--family', 'dsv3_mla', '--draft', '--launch', 'graph'],
    'micro_batches': ['--family', 'dsv3_mla', '--micro-batches'],
    'partial_first': ['--family', 'dense', '--partial-first', '40'],
    'partial_last': ['--family', 'hy_v4', '--partial-last', '50'],
    'two_devices': ['--family', 'dense', '--together', 'devices'],
    'two_processes': ['--family', 'dense', '--together', 'processes'],
    'two_ranks': ['--family', 'dense', '--together', 'ranks', '--launch', 'graph'],
    'residue_more': ['--family', 'dsv4_csa_hca', '--residue', '1'],
    'residue_less': ['--family', 'dsv4_csa_hca', '--residue', '-1'],
    'neutral': ['--family', 'dense', '--neutral', 'norm'],
    'post_norm': ['--ambiguous', 'post_norm'],
    'longcat_one_stream': ['--ambiguous', 'longcat_one_stream'],
    'alternating': ['--ambiguous', 'alternating'],
    'one_layer': ['--ambiguous', 'one_layer'],
    'pattern': ['--family', 'nemotron_h', '--pattern', 'MM*-', '--threads', '1'],
    'shuffled': ['--family', 'dsv41', '--order', 'shuffle', '--field-order', 'random'],
}


def _on_gpu(events: list[Json], device: int) -> list[Json]:
    kinds = ('kernel', 'gpu_memcpy', 'gpu_memset')
    return sorted((e for e in events if e['cat'] in kinds and e['args']['device'] == device),
                  key=lambda e: (e['start'], e['i']))


def _total(rows: list[Json]) -> int:
    return sum(e['end'] - e['start'] for e in rows)


def _check_layers(c: Comparison, kernels: list[Json], t0: int, entry: Json, simple: bool) -> None:
    previous_end = None
    for layer in entry['layers']:
        what = f"pass {entry['index']} layer {layer['index']}"
        first = layer['first_kernel']
        c.equal(what + ' starts', t0 + layer['start_ns'], kernels[first]['start'])
        c.equal(what + ' wall', layer['wall_ns'], layer['end_ns'] - layer['start_ns'])
        c.equal(what + ' blocks', layer['n_kernels'], sum(layer['blocks']))
        if not simple:
            continue
        own = kernels[first:first + layer['n_kernels']]
        c.equal(what + ' sum', layer['sum_ns'], _total(own))
        if not layer['n_copies']:
            c.equal(what + ' ends', t0 + layer['end_ns'], max(e['end'] for e in own))
        if previous_end is not None:
            c.equal(what + ' follows', first, previous_end)
        previous_end = first + layer['n_kernels']


def check(c: Comparison, truth: Json, events: list[Json]) -> None:
    """Counts, sums, ordinals and order of the structure against the events."""
    structure = truth['structure']
    t0 = truth['t0_ns']
    gpu = _on_gpu(events, 0)
    kernels = [e for e in gpu if e['cat'] == 'kernel']
    streams_used = {e['args']['stream'] for e in kernels}
    processes = {e['pid'] for e in events if e['cat'] in ('cuda_runtime', 'cuda_driver')}
    alone = len(processes) <= 1
    simple = alone and len(streams_used) == 1 and not structure['foreign_kernels']
    inside: defaultdict[str, int] = defaultdict(int)
    for entry in structure['passes']:
        layers = entry['layers']
        what = f"pass {entry['index']}"
        for key, ends in (('n_kernels', 'kernels'), ('sum_ns', 'sum_ns')):
            c.equal(f'{what} {key}', entry[key], sum(layer[key] for layer in layers) +
                    entry['head_' + ends] + entry['tail_' + ends])
            inside[key] += entry[key]
        indices = [layer['index'] for layer in layers]
        c.equal(what + ' order', indices, sorted(set(indices)))
        if entry['complete'] and entry['kind'] != 'draft':
            c.equal(what + ' layers', structure['layers_per_pass'], len(layers))
        _check_layers(c, kernels, t0, entry, simple)
        if simple:
            begin, end = t0 + entry['start_ns'], t0 + entry['end_ns']
            own = [e for e in gpu if begin <= e['start'] < end]
            of_kernels = [e for e in own if e['cat'] == 'kernel']
            copies = [e for e in own if e['cat'] != 'kernel']
            c.equal(what + ' kernels in time', (entry['n_kernels'], entry['sum_ns']),
                    (len(of_kernels), _total(of_kernels)))
            c.equal(what + ' copies in time', (entry['n_copies'], entry['copy_ns']),
                    (len(copies), _total(copies)))
            c.equal(what + ' end', end, max(e['end'] for e in own))
    if alone:
        c.equal('structure kernels', inside['n_kernels'] + structure['outside_kernels'],
                len(kernels))
        c.equal('structure ns', inside['sum_ns'] + structure['outside_ns'], _total(kernels))
    c.equal('clusters', structure['layers_per_pass'], sum(k['n'] for k in structure['clusters']))
    _check_config(c, structure)


def _check_config(c: Comparison, structure: Json) -> None:
    config = structure['config']
    if config is None:
        return
    c.equal('config', config, json.loads(json.dumps(config)))
    text = config.get('text_config', config)
    layers = text.get('num_hidden_layers', text.get('num_layers'))
    c.equal('config layers', structure['layers_per_pass'], layers)
