import { describe, expect, it } from 'vitest';
import type { WorkloadData } from './documents';
import { DroppedSource } from './dropped_source';
import { EmbeddedSource } from './embedded_source';

function workload(run: number): WorkloadData {
  return { schema: 'layerscope/workload/1', sources: [], requests: [], summary: null, run };
}

const VIEW = {
  schema: 'layerscope/view/1',
  version: '1',
  title: 'trace',
  live: false,
  inputs: [{ path: 'trace.json', kind: 'kineto', rank: null }],
  analyses: ['layers'],
  documents: ['workload'],
  cuts: [],
} as const;

describe('a report', () => {
  it('says what the program said of an analysis that failed', async () => {
    const error = { code: 'failed', message: 'kernels of 2 processes are mixed', hint: 'choose one with --pid 149' };
    const source = new EmbeddedSource({ view: VIEW, analyses: { layers: { error } }, documents: {} });
    expect(await source.analysis('layers')).toEqual({ ok: false, error });
  });

  it('says it of a document too', async () => {
    const error = { code: 'unsupported', message: 'no requests in this trace', hint: 'give --bench' };
    const source = new EmbeddedSource({ view: VIEW, analyses: {}, documents: { workload: { error } } });
    expect(await source.document('workload')).toEqual({ ok: false, error });
  });

  it('holds one run, and says so of another', async () => {
    const source = new EmbeddedSource({ view: VIEW, analyses: {}, documents: { workload: workload(0) } });
    expect((await source.document('workload')).ok).toBe(true);
    expect(await source.document('workload', { run: 2 })).toMatchObject({ ok: false, error: { code: 'not_in_report' } });
  });
});

describe('a dropped document', () => {
  it('takes the place of one of its kind, over what was open first', async () => {
    const base = new EmbeddedSource({ view: VIEW, analyses: {}, documents: { workload: workload(0) } });
    const first = DroppedSource.over(base, 'workload', workload(1), 'one.json');
    const second = DroppedSource.over(first, 'workload', workload(2), 'two.json');
    expect(second.index.inputs.map(({ path }) => path)).toEqual(['trace.json', 'two.json']);
    expect(second.index.documents).toEqual(['workload']);
    expect(await second.document('workload')).toMatchObject({ ok: true, value: { run: 2 } });
    // One step to the base, however often something was dropped.
    expect(await second.analysis('layers')).toMatchObject({ ok: false, error: { code: 'not_in_report' } });
  });
});
