import { describe, expect, it } from 'vitest';
import { type FlatModule, type ModuleTree, buildTree, nameOfRun, parentGpu } from './module_tree';
import { firstOpen, matches, visibleRows } from './visible_rows';

function flat(path: string, gpu: number, own: number, fields: Partial<FlatModule> = {}): FlatModule {
  const parent = path.lastIndexOf('.');
  return {
    key: path,
    parentKey: parent < 0 ? null : path.slice(0, parent),
    path,
    class: path.slice(parent + 1).replace(/_\d+$/, ''),
    spent: { gpu, cpu: null, kernels: 1, calls: 1 },
    own,
    evidence: own > 0 ? { launch_correlation: own } : {},
    compared: [],
    repeat: 1,
    more: false,
    modelDepth: path.split('.').length,
    ...fields,
  };
}

const MODEL: readonly FlatModule[] = [
  flat('M', 100, 0),
  flat('M.Emb_0', 10, 10),
  flat('M.Layer_0', 30, 5),
  flat('M.Layer_0.Mlp_0', 25, 25, { evidence: { eager_alignment: 25 } }),
  flat('M.Layer_1', 30, 30),
  flat('M.Layer_2', 30, 30),
];

function names(tree: ModuleTree, rows: readonly number[]): readonly string[] {
  return rows.map((index) => tree.nodes[index]?.name ?? '?');
}

const noValue = (): null => null;

describe('the module tree', () => {
  it('puts like siblings in a row below one row, which adds them up', () => {
    const tree = buildTree(MODEL, [], 110, true);
    const group = tree.nodes[tree.byPath.get('M.Layer_0..2') ?? -1];
    expect(group?.repeat).toBe(3);
    expect(group?.spent).toEqual({ gpu: 90, cpu: null, kernels: 3, calls: 3 });
    expect(group?.evidenceBelow).toEqual({ launch_correlation: 65, eager_alignment: 25 });
  });

  it('adds up evidence to the root', () => {
    for (const grouped of [true, false]) {
      const tree = buildTree(MODEL, [], 110, grouped);
      expect(tree.nodes[tree.byPath.get('M') ?? -1]?.evidenceBelow).toEqual({ launch_correlation: 75, eager_alignment: 25 });
    }
  });

  it('takes shares of the parent, of a root of the whole', () => {
    const tree = buildTree(MODEL, [], 110, false);
    const at = (path: string) => {
      const node = tree.nodes[tree.byPath.get(path) ?? -1];
      return node === undefined ? undefined : parentGpu(tree, node, null);
    };
    expect([at('M'), at('M.Emb_0'), at('M.Layer_0.Mlp_0')]).toEqual([110, 100, 30]);
  });

  it('shows what is open and finds what is not', () => {
    const tree = buildTree(MODEL, [], 110, true);
    const open = firstOpen(tree);
    expect(names(tree, visibleRows(tree, open, null, null, noValue))).toEqual(['M', 'Emb_0', 'Layer_0..2']);
    const hits = matches(tree, 'mlp');
    expect(names(tree, visibleRows(tree, open, hits, null, noValue))).toEqual(['M', 'Layer_0..2', 'Layer_0', 'Mlp_0']);
  });

  it('sorts siblings and keeps children below their parents', () => {
    const tree = buildTree(MODEL, [], 110, false);
    const sort = { column: 'gpu', descending: true };
    const rows = visibleRows(tree, new Set(['M', 'M.Layer_0']), null, sort, (node) => node.spent.gpu);
    expect(names(tree, rows)).toEqual(['M', 'Layer_0', 'Mlp_0', 'Layer_1', 'Layer_2', 'Emb_0']);
  });
});

describe('the name of a run', () => {
  it('is the one that the verbs take', () => {
    expect(nameOfRun(['L_0', 'L_1', 'L_2'])).toBe('L_0..2');
    expect(nameOfRun(['layers.3', 'layers.7', 'layers.11'])).toBe('layers.3..11 step 4');
    expect(nameOfRun(['L_0', 'L_1', 'L_3'])).toBeNull();
    expect(nameOfRun(['a', 'b'])).toBeNull();
  });
});
