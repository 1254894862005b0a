#!/usr/bin/env python3
"""Checks serving runs of the generator against their own text.

usage: check_replay.py --gen PROGRAM [--only WORD]

From the capture trace the launch calls between begin and end of each capture are read with the
scopes and ops that contain them in time; from the replay's trace the activities of each graph launch.
Laid over each other in order they must give what the truth file says of every activity.
"""
from __future__ import annotations

import json
import pathlib
from typing import Any, Callable

from check_grid import run_grid

Json = dict[str, Any]

GRID = {
    'full': '',
    'cuda': '--vendor cuda --steps vllm',
    'moe': '--family moe --branches own --layers 3',
    'shared_branch': '--branches shared',
    'piecewise': '--launch piecewise --steps vllm --layers 6',
    'compiled': '--launch piecewise --compiled --steps vllm --vendor cuda',
    'batches': '--batches 32,8 --serve 30,8,2 --passes 4 --tiles-by-batch',
    'one_file': '--batches 32,8 --serve 30,8 --one-capture-file --capture-thread',
    'copies': '--copies memcpy',
    'copy_kernels': '--copies kernel --family moe',
    'draft': '--draft two-steps',
    'draft_one_step': '--draft one-step --batches 16,4 --serve 16,3',
    'ranks': '--ranks 2 --graph-nodes',
    'wrapper': '--scope wrapper --steps none',
    'model_scope': '--scope model --launch piecewise',
    'lost': '--lose 3 --copies lost',
    'extra': '--extra 2',
    'cut': '--launch piecewise --skip-pieces 3 --layers 5',
}


def load(path: pathlib.Path) -> list[Json]:
    events = json.loads(path.read_text(encoding='utf-8'))['traceEvents']
    return [event for event in events if event['ph'] == 'X']


def ns(text: float) -> int:
    return round(text * 1000)


def is_scope(event: Json) -> bool:
    return event['name'].startswith('nn.Module: ')


def captured_groups(path: pathlib.Path) -> dict[str, list[list[Json]]]:
    """By name of the annotation around: the groups of launch calls, each {kernel, modules, op}."""
    groups: dict[str, list[list[Json]]] = {}
    open_: list[Json] = []
    group: list[Json] | None = None
    for event in sorted((e for e in load(path) if e['cat'] not in ('kernel', 'gpu_memcpy')),
                        key=lambda e: (e['ts'], -e['dur'])):
        while open_ and open_[-1]['ts'] + open_[-1]['dur'] < event['ts']:
            open_.pop()
        name = event['name']
        if event['cat'] in ('cuda_runtime', 'cuda_driver'):
            if name.endswith('StreamBeginCapture'):
                group = []
            elif name.endswith('StreamEndCapture') and group is not None:
                around = [e['name'] for e in open_ if e['name'].startswith('capture_')]
                groups.setdefault(around[-1], []).append(group)
                group = None
            elif group is not None and ('Launch' in name or 'Memcpy' in name):
                group.append({'kernel': event['args'].get('kernel'), 'copy': 'Memcpy' in name,
                              'modules': [e['name'][11:] for e in open_ if is_scope(e)],
                              'op': next((e['name'] for e in reversed(open_)
                                          if e['cat'] == 'cpu_op'), '')})
        else:
            open_.append(event)
    return groups


def check_launches(run: pathlib.Path, rank: int, options: str, errors: list[str]) -> int:
    truth = json.loads((run / f'truth/run_rank{rank}.json').read_text(encoding='utf-8'))
    gpu = [e for e in load(run / f'run/rank{rank}.pt.trace.json')
           if e['cat'] in ('kernel', 'gpu_memcpy')]
    if len(gpu) != len(truth['activities']):
        errors.append(f"{len(gpu)} activities, truth has {len(truth['activities'])}")
        return 0
    launches: dict[int, list[tuple[Json, Json]]] = {}
    for event, activity in zip(gpu, truth['activities'], strict=True):
        if (event['name'], ns(event['ts']), ns(event['dur'])) != (
                activity['name'], activity['start_ns'], activity['duration_ns']):
            errors.append(f"order: {event['name']} is not {activity['name']}")
        if activity['graph'] >= 0:
            launches.setdefault(activity['launch'], []).append((event, activity))
    # The pieces of a forward follow each other; in a cut first pass the first ones are not there.
    skipped = int(options.split('--skip-pieces ')[1].split()[0]) if '--skip' in options else 0
    next_piece: dict[tuple[int, int], int] = {}
    for launch, pairs in launches.items():
        of_pass, of_graph = pairs[0][1]['pass'], pairs[0][1]['graph']
        graph = truth['graphs'][of_graph]
        groups = captured_groups(run / 'capture_traces' / graph['capture'])
        pieces = groups[f"capture_{graph['batch']}_{graph['mode']}"]
        piece = next_piece.get((of_pass, of_graph), 0 if of_pass else skipped)
        next_piece[of_pass, of_graph] = piece + 1
        check_piece(pairs, pieces[piece], launch, '--lose' in options or 'lost' in options, errors)
    for (of_pass, of_graph), pieces_seen in next_piece.items():
        if pieces_seen != truth['graphs'][of_graph]['pieces']:
            errors.append(f'pass {of_pass}: {pieces_seen} pieces')
    return sum(map(len, launches.values()))


def check_piece(pairs: list[tuple[Json, Json]], nodes: list[Json], launch: int, lossy: bool,
                errors: list[str]) -> None:
    """Nodes that the replay lacks are passed over, where it may lack some."""
    at = 0
    for event, activity in pairs:
        if event['args']['correlation'] != launch:
            errors.append(f"{event['name']} belongs to another launch")
        if activity['unplaced']:
            continue
        while lossy and at < len(nodes) and not fits(event, activity, nodes[at]):
            at += 1
        if at == len(nodes) or not fits(event, activity, nodes[at]):
            errors.append(f"{activity['name']} in {activity['modules']} has no captured call")
            return
        at += 1
    if at != len(nodes) and not lossy:
        errors.append(f'{len(nodes) - at} captured calls are not replayed')


def fits(event: Json, activity: Json, node: Json) -> bool:
    modules = activity['modules'][-len(node['modules']):]
    named = node['copy'] or node['kernel'] in (None, event['name'])
    return named and modules == node['modules'] and activity['op'] == node['op']


def check_run(run: pathlib.Path, options: str, errors: list[str]) -> int:
    compared = 0
    for trace in sorted((run / 'run').iterdir()):
        rank = int(trace.name.split('.')[0][4:])
        compared += check_launches(run, rank, options, errors)
        truth = json.loads((run / f'truth/run_rank{rank}.json').read_text(encoding='utf-8'))
        annotations = json.loads(
            (run / f'annotations/graph_annotations_rank{rank}.json').read_text(encoding='utf-8'))
        for event, activity in zip((e for e in load(trace) if e['cat'] in ('kernel', 'gpu_memcpy')),
                                   truth['activities'], strict=True):
            node = event['args'].get('graph node id')
            if node is not None and annotations[str(node)][-1]['name'] != activity['path']:
                errors.append(f"annotation of {node}")
            compared += node is not None
    return compared


def check_case(folder: pathlib.Path, options: str, generate: Callable[..., None],
               errors: list[str]) -> int:
    generate('serve', '-o', str(folder), *options.split())
    return check_run(folder, options, errors)


if __name__ == '__main__':
    run_grid(__doc__, GRID, check_case)
