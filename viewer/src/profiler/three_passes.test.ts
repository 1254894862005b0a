import { describe, expect, it } from 'vitest';
import type { Pass, Step } from '../data/analyses';
import { threePasses } from './three_passes';

function pass(index: number, kind: string, wall: number, complete = true): Pass {
  return {
    index, kind, wall_ns: wall, complete, step: null, batch: null, start_ns: 0, end_ns: wall, busy_ns: wall, sum_ns: wall,
    n_kernels: 1, n_layers: 1, avg_layer_ns: 1, first_layer_ns: 1, confidence: 1, note: '', device: 0, rank: null, pid: 1,
  };
}

describe('the three passes', () => {
  it('are at 10, 50 and 90 % of the commonest kind by wall time', () => {
    // 11 decode passes of 0, 10 … 100 ns: places 1, 5 and 9.
    const passes = [...Array.from({ length: 11 }, (_, i) => pass(i, 'decode', (i * 70) % 110)), pass(11, 'prefill', 9999)];
    const walls = threePasses(passes, []).map(({ labels, wall_ns }) => [labels.join(), wall_ns]);
    expect(walls).toEqual([['Fast', 10], ['Typical', 50], ['Slow', 90]]);
  });

  it('are one where there is one, and leave out what is not whole', () => {
    const found = threePasses([pass(0, 'decode', 5), pass(1, 'decode', 1, false)], []);
    expect(found.map(({ index, labels }) => [index, labels])).toEqual([[0, ['Fast', 'Typical', 'Slow']]]);
  });

  it('take the lower index of passes that last as long', () => {
    expect(threePasses([pass(4, 'd', 7), pass(2, 'd', 7)], []).map(({ index }) => index)).toEqual([2, 4]);
  });

  it('are steps where no pass was found', () => {
    const step = { index: 3, name: 's', phase: 'decode', wall_ns: 8, start_ns: 0 } as Step;
    expect(threePasses([], [step]).map(({ kind, index }) => [kind, index])).toEqual([['step', 3]]);
  });

  it('are none without either', () => {
    expect(threePasses([], [])).toEqual([]);
  });
});
