import { describe, expect, it } from 'vitest';
import type { MapModule, ModelExecution, OpNode } from '../data/model_execution';
import { fromMap, mapTotal } from './from_map';
import { kernelsOfMap } from './kernels_of_map';

function op(name: string, fields: Partial<OpNode> = {}): OpNode {
  return { op: name, dur_us: 1, seq: 0, ...fields };
}

function module(name: string, fields: Partial<MapModule> = {}): MapModule {
  return { class: name, dur_us: 2.5, seq: 0, children: [], ops: [], ...fields };
}

/** A document with the older keys alone: an op has its first kernel, which an op below it launched. */
const OLDER: ModelExecution = {
  module_tree: module('Model', {
    instance: 0,
    children: [
      module('Linear', {
        instance: 3,
        ops: [
          op('aten::linear', { gpu: 'gemm', gpu_dur_us: 10, sub_ops: [op('aten::mm', { gpu: 'gemm', gpu_dur_us: 10 })] }),
          op('aten::add', { sub_ops: [op('aten::add_', { gpu: 'add', gpu_dur_us: 2.5 })] }),
        ],
      }),
    ],
  }),
};

describe('a document with the older keys', () => {
  it('gives a tree whose GPU time counts each kernel once', () => {
    const rows = fromMap(OLDER);
    expect(rows.map(({ path, spent }) => [path, spent.gpu, spent.cpu])).toEqual([
      ['Model_0', 12_500, 2500],
      ['Model_0.Linear_3', 12_500, 2500],
    ]);
    expect(mapTotal(OLDER, rows)).toBe(12_500);
  });
});

describe('a document of ours', () => {
  const kernels = (name: string, gpu_ns: number) => ({ gpu_kernels: [{ name, n: 2, gpu_ns, role: 'gemm' }], gpu_own_ns: gpu_ns, gpu: name });
  const ours: ModelExecution = {
    schema_version: 1,
    module_tree: module('Model', {
      name: 'model',
      children: [
        module('Layer', {
          name: 'layers.0..1',
          members: ['layers.0', 'layers.1'],
          repeat: 2,
          children: [
            module('Mlp', {
              name: 'mlp',
              ops: [op('aten::linear', { gpu: 'k', gpu_own_ns: 0, sub_ops: [op('aten::mm', kernels('k', 70))] })],
            }),
          ],
        }),
      ],
    }),
  };

  it('gives the kernels of a module by the path of any member of its fold', () => {
    const found = kernelsOfMap(ours, 'model.layers.1.mlp');
    expect(found?.modules).toBe(2);
    expect(found?.kernels.map(({ name, n, sum }) => [name, n, sum])).toEqual([['k', 2, 70]]);
    expect(kernelsOfMap(ours, 'model.layers.0..1')?.modules).toBe(1);
  });

  it('has nothing for a path that it does not hold', () => {
    expect(kernelsOfMap(ours, 'model.layers.2.mlp')).toBeNull();
    expect(kernelsOfMap(ours, 'model.layers')).toBeNull();
  });
});

describe('a document that anyone wrote', () => {
  it('has no figures where it gives none', () => {
    const bare = { module_tree: { class: '', children: [null, { class: 'A', children: 'x', evidence: { launch_correlation: [[1]] } }] } };
    const rows = fromMap(bare as unknown as ModelExecution);
    expect(rows.map(({ spent, evidence }) => [spent.cpu, spent.calls, evidence])).toEqual([[null, null, {}], [null, null, {}]]);
    expect(kernelsOfMap(bare as unknown as ModelExecution, 'A')).toEqual({ kernels: [], modules: 1 });
  });

  it('ends at a depth that no model has, with the time of what lies deeper', () => {
    let tree = module('M', { ops: [op('o', { gpu: 'k', gpu_dur_us: 1 })] });
    for (let depth = 1; depth < 40_000; depth += 1) tree = module('M', { children: [tree] });
    const rows = fromMap({ module_tree: tree });
    expect(rows.length).toBe(200);
    expect([rows[0]?.spent.gpu, rows[199]?.own]).toEqual([1000, 1000]);
  });
});
