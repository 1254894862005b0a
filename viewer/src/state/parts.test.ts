import { beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from '../data/source';
import { findProcesses, partOptions, pids, ranks } from './parts';
import { NOTHING_SELECTED, params, select, selection, setParam, source } from './state';

interface Made {
  readonly ranks?: readonly (number | null)[];
  readonly live?: boolean;
  readonly processes?: readonly { pid: number; rank: number | null; devices: readonly number[] }[];
}

function made({ ranks: of = [null], live = true, processes = [] }: Made): DataSource {
  return {
    index: {
      schema: 'layerscope/view/1',
      version: '',
      title: '',
      live,
      inputs: of.map((rank) => ({ path: 'x', kind: 'nsys', rank })),
      analyses: ['info'],
      documents: [],
      cuts: [],
    },
    analysis: () =>
      Promise.resolve({
        ok: true,
        value: { schema: '', command: 'info', inputs: [], options: {}, health: [], coverage: null, data: { processes } as never },
      }),
    document: () => Promise.resolve({ ok: false, error: { code: '', message: '', hint: '' } }),
  };
}

async function open(of: Made): Promise<void> {
  const from = made(of);
  await findProcesses(from);
  source.value = from;
}

beforeEach(() => {
  selection.value = NOTHING_SELECTED;
  params.value = {};
});

describe('what is shown of a run', () => {
  it('is one rank of several files, the first where none is chosen', async () => {
    await open({ ranks: [1, 0] });
    expect([ranks.value, partOptions.value]).toEqual([[0, 1], { rank: 0 }]);
    select({ rank: 1 });
    expect(partOptions.value).toEqual({ rank: 1 });
    select({ rank: 7 });
    expect(partOptions.value).toEqual({ rank: 0 });
  });

  it('is one rank of the processes in one file', async () => {
    const processes = [
      { pid: 148, rank: 0, devices: [0] },
      { pid: 149, rank: 1, devices: [1] },
    ];
    await open({ processes });
    expect([ranks.value, pids.value, partOptions.value]).toEqual([[0, 1], [], { rank: 0 }]);
    // A report holds all of them together and can be asked for none.
    await open({ processes, live: false });
    expect(partOptions.value).toEqual({});
  });

  it('is one process where no ranks are known, and only those count that something ran for', async () => {
    await open({ processes: [{ pid: 5, rank: null, devices: [0] }, { pid: 6, rank: null, devices: [0] }, { pid: 7, rank: null, devices: [] }] });
    expect([pids.value, partOptions.value]).toEqual([['5', '6'], { pid: '5' }]);
    setParam('pid', '6');
    expect(partOptions.value).toEqual({ pid: '6' });
  });

  it('is everything where there is one', async () => {
    await open({ ranks: [3], processes: [{ pid: 5, rank: 3, devices: [0] }] });
    expect(partOptions.value).toEqual({});
  });
});
