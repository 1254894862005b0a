import { describe, expect, it } from 'vitest';
import { findPath, layerOfPath, pathIn, readModel } from './document';
import { LEGACY, SMALL } from './fixture';
import type { ArchModel, ArchNode } from './model';

function model(value: unknown): ArchModel {
  const read = readModel(value);
  if (read === null) throw new Error('not read');
  return read;
}

function node(of: ArchModel, title: string): ArchNode {
  const found = [...of.byId.values()].find((candidate) => candidate.title === title);
  if (found === undefined) throw new Error(`no ${title}`);
  return found;
}

describe('readModel', () => {
  it('takes modules and ops in the order in which they ran', () => {
    expect(model(SMALL).root.items.map((item) => item.title)).toEqual([
      'aten::embedding',
      'AttnLayer',
      'MambaLayer',
      'aten::view',
      'aten::empty',
      'aten::mm',
    ]);
  });

  it('keeps the totals of the document', () => {
    const read = model(SMALL);
    expect([read.totalGpuNs, read.unattributedNs, read.before?.gpuNs, read.root.gpuNs]).toEqual([1_030, 30, 30, 1_000]);
    expect(read.flow.map((item) => item.title)).toEqual(['before the model', 'Tiny']);
  });

  it('seats each layer of alternating types in its fold', () => {
    const seats = model(SMALL).layers.map((layer) => [layer.index, layer.type, layer.fold?.title, layer.member]);
    expect(seats).toEqual([
      [0, 'A', 'AttnLayer', 0],
      [1, 'B', 'MambaLayer', 0],
      [2, 'A', 'AttnLayer', 1],
      [3, 'B', 'MambaLayer', 1],
    ]);
  });

  it('opens documents that have the older keys only', () => {
    const read = model(LEGACY);
    expect([read.legacy, read.totalGpuNs, read.root.gpuNs]).toEqual([true, null, null]);
    const fold = node(read, 'OldLayer');
    expect([fold.cpuNs, fold.path, fold.repeat]).toEqual([60_000, 'Old_0.OldLayer_0', 3]);
    expect(fold.layers?.cpu).toEqual([10_000, 20_000, 30_000]);
    expect(node(read, 'aten::linear').gpuNs).toBe(4_500);
    expect(node(read, 'aten::mm').kernelName).toBe('gemm...');
    expect(read.layers.map((layer) => [layer.index, layer.type, layer.cpuNs])).toEqual([
      [0, 'A', 10_000],
      [1, 'A', 20_000],
      [2, 'A', 30_000],
    ]);
  });

  it('gives layers that no module stands for a block of their own', () => {
    const read = model({
      module_tree: { class: '[forward]', gpu_ns: 0, children: [], ops: [] },
      per_layer: [
        { index: 0, path: null, type: 'A', gpu_ns: 5 },
        { index: 1, path: null, type: 'A', gpu_ns: 7 },
      ],
      layer_template: [{ op: '[no op]', module: '', gpu: 'k', gpu_ns: 5, seq: 0 }],
      layer_source: 'periodicity',
      stats: { total_gpu_ns: 12 },
    });
    expect([read.found?.gpuNs, read.found?.items.length, read.layers[1]?.member]).toEqual([12, 1, 1]);
    expect(read.flow).toEqual([]);
  });

  it('survives values that are not of their kind, and what is nested too deep', () => {
    let deep: unknown = { class: 'Leaf', children: [], ops: [] };
    for (let i = 0; i < 5_000; i += 1) deep = { class: `C${i}`, children: [deep], ops: 'x' };
    const read = model({ module_tree: deep, per_layer: [null, 3], stats: 7, pre_model_ops: {}, ranks: [null] });
    expect(read.leftOut).toBe(1);
    expect(readModel({ module_tree: [] })).toBeNull();
    expect(readModel('text')).toBeNull();
    expect(model({ module_tree: { class: 3, gpu_ns: 'x', children: 'y', repeat: 1e9 } }).layers).toEqual([]);
  });
});

describe('module paths', () => {
  it('lead to the node and the layer that hold them', () => {
    const read = model(SMALL);
    expect(layerOfPath(read, 'Tiny_0.AttnLayer_1.Attn_1')?.index).toBe(2);
    expect(findPath(read, 'Tiny_0.AttnLayer_1.Attn_1')?.title).toBe('Attn');
    expect(findPath(read, 'Tiny_0.AttnLayer_0..1.Attn_0..1')?.title).toBe('Attn');
    expect(findPath(read, 'Tiny_0.Nowhere_0')).toBeNull();
  });

  it('come back from the node and the layer', () => {
    const read = model(SMALL);
    expect(pathIn(node(read, 'Attn'), read.layers[2] ?? null)).toBe('Tiny_0.AttnLayer_1.Attn_1');
    expect(pathIn(node(read, 'attn_fwd'), null)).toBe('Tiny_0.AttnLayer_0..1.Attn_0..1');
    expect(pathIn(node(read, 'aten::mm'), null)).toBe('Tiny_0');
  });
});
