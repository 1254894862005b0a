import { describe, expect, it } from 'vitest';
import { readModel } from './document';
import { LEGACY, SMALL } from './fixture';
import { composition, flowEntries, heaviestOp, openAtFirst, quietNames, timeIn } from './flow';
import { layerRows } from './layer_ops';
import type { ArchModel } from './model';
import { differenceText, roundHalfEven, spreadOf } from './statistics';
import { above, breadcrumb, placeOfSelection, resolve } from './view';

function model(value: unknown): ArchModel {
  const read = readModel(value);
  if (read === null) throw new Error('not read');
  return read;
}

const small = model(SMALL);

describe('flowEntries', () => {
  it('joins ops without time and folds that take turns, and drops nothing', () => {
    const entries = flowEntries(small.root.items, small, 'gpu');
    expect(entries.map((entry) => entry.kind)).toEqual(['node', 'pattern', 'quiet', 'node']);
    const pattern = entries[1];
    expect(pattern?.kind === 'pattern' ? [pattern.text, pattern.nodes.length] : null).toEqual(['(A B)×2', 2]);
    const quiet = entries[2];
    expect(quiet?.kind === 'quiet' ? quietNames(quiet.nodes) : null).toBe('view, empty');
  });

  it('shows every op by its CPU time where all have some', () => {
    expect(flowEntries(small.root.items, small, 'cpu').map((entry) => entry.kind)).toEqual([
      'node',
      'pattern',
      'node',
      'node',
      'node',
    ]);
  });
});

describe('times', () => {
  it('are of all layers or of one', () => {
    const fold = small.root.items[1];
    if (fold === undefined) throw new Error();
    expect([timeIn(fold, 'gpu', null), timeIn(fold, 'gpu', 1)]).toEqual([240, 140]);
  });

  it('compose a module heaviest first', () => {
    const { segments, restNs } = composition(small.root, 'gpu', null, 2);
    expect(segments.map((segment) => [segment.node.title, segment.ns])).toEqual([
      ['MambaLayer', 460],
      ['AttnLayer', 240],
    ]);
    expect(restNs).toBe(300);
    expect(heaviestOp(small.root, 'gpu')?.title).toBe('scan');
  });

  it('open the way to the layers at first', () => {
    expect([...openAtFirst(small, 'gpu')]).toEqual(['0']);
    expect([...openAtFirst(model(LEGACY), 'cpu')]).toEqual(['0', '0.0']);
  });
});

describe('layerRows', () => {
  it('lists the ops of one layer with what they take in the others', () => {
    const fold = small.layers[2]?.fold;
    if (fold == null) throw new Error();
    const { rows, hidden } = layerRows(fold, 1, 'gpu', false);
    expect(rows.map((row) => [row.kind, row.node.title, row.ns])).toEqual([
      ['module', 'Attn', 140],
      ['op', 'attn_fwd', 140],
    ]);
    expect(hidden).toBe(0);
    const op = rows[1];
    expect(op?.kind === 'op' ? [op.spread?.avgNs, op.spread?.minNs, op.spread?.maxNs] : null).toEqual([120, 100, 140]);
  });
});

describe('spreadOf', () => {
  it('counts by hand', () => {
    // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, deviation 2 (the textbook example).
    const spread = spreadOf([2, 4, 4, null, 4, 5, 5, 7, 9]);
    expect(spread).toEqual({ n: 8, sumNs: 40, avgNs: 5, minNs: 2, maxNs: 9, p50Ns: 4, stdNs: 2, minAt: 0, maxAt: 8 });
    expect(spreadOf([null])).toBeNull();
  });

  it('says how far a value is from the mean', () => {
    expect([differenceText(103, 100), differenceText(99.96, 100), differenceText(90, 100), differenceText(1, 0)]).toEqual([
      '+3.0\u00a0%',
      '±0.0\u00a0%',
      '−10.0\u00a0%',
      '–',
    ]);
  });

  it('rounds half to even as the engine', () => {
    expect([0.5, 1.5, 2.5, 2.6].map(roundHalfEven)).toEqual([0, 2, 2, 3]);
  });
});

describe('places', () => {
  it('fall back to what the document has', () => {
    expect(resolve(small, { view: 'vStep', node: 'gone', layer: 2 }).view).toBe('vTop');
    expect(resolve(small, { view: 'vLayer', node: null, layer: 99 }).view).toBe('vTop');
    expect(resolve(small, { view: 'vMod', node: '0.1.0.0', layer: 2 }).view).toBe('vStep');
  });

  it('have a way back up, through the layer', () => {
    const where = resolve(small, { view: 'vStep', node: '0.1.0.0', layer: 2 });
    expect(breadcrumb(small, where).map((crumb) => crumb.text)).toEqual([
      'Whole model',
      'AttnLayer',
      'layer 2',
      'Attn',
      'attn_fwd',
    ]);
    expect(above(small, where)).toEqual({ view: 'vMod', node: '0.1.0', layer: 2 });
    expect(above(small, resolve(small, { view: 'vTop', node: null, layer: null }))).toBeNull();
  });

  it('follow a module and a layer that were selected elsewhere', () => {
    expect(placeOfSelection(small, null, null, 3)).toEqual({ view: 'vLayer', node: null, layer: 3 });
    expect(placeOfSelection(small, small.byId.get('0.1.0') ?? null, 'Tiny_0.AttnLayer_1.Attn_1', null)).toEqual({
      view: 'vMod',
      node: '0.1.0',
      layer: 2,
    });
  });
});
