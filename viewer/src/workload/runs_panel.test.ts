import { describe, expect, it } from 'vitest';
import type { WorkloadRun } from './model';
import { runColumns } from './runs_panel';
import { runPoints, seriesName } from './runs_chart';
import { isCount } from './server_counts';

function run(index: number, summary: WorkloadRun['summary']): WorkloadRun {
  return { index, source: 0, label: null, summary, file_summary: null, comparison: [] };
}

describe('runColumns', () => {
  it('are those that some run has a value in', () => {
    const runs = [run(0, { completed: 3, ttft: { p50_ns: 5 } }), run(1, { completed: 4, itl: null, e2e: { p99_ns: 7 } })];
    expect(runColumns(runs).map(({ id }) => id)).toEqual(['index', 'completed', 'ttft.p50_ns', 'e2e.p99_ns']);
  });

  it('name the file where there are several', () => {
    const sources = ['a/one.json', 'b/two.json'].map((path) => ({ path, kind: 'vllm_bench', version: null }));
    const ids = (runs: readonly WorkloadRun[]): string[] => runColumns(runs, sources).map(({ id }) => id);
    expect(ids([run(0, { completed: 1 }), { ...run(1, { completed: 1 }), source: 1 }])).toEqual(['index', 'file', 'completed']);
    expect(ids([run(0, { completed: 1 }), run(1, { completed: 1 })])).toEqual(['index', 'completed']);
  });

  it('hold the numbers of the document', () => {
    const one = run(0, { request_throughput_per_s: 1.5, ttft: { p50_ns: 5 } });
    expect(runColumns([one]).map(({ value }) => value(one))).toEqual([0, 1.5, 5]);
  });
});

describe('runPoints', () => {
  it('go by throughput and leave out what lacks a value', () => {
    const at = (index: number, rate: number | null, p50_ns: number | null): WorkloadRun =>
      run(index, { output_token_throughput_per_s: rate, ttft: { p50_ns } });
    const points = runPoints([at(0, 200, 7), at(1, 100, 5), at(2, null, 5), at(3, 300, null)], 'ttft');
    expect(points.map(({ run: { index }, x, y_ns }) => [index, x, y_ns])).toEqual([[1, 100, 5], [0, 200, 7]]);
  });
});

describe('seriesName', () => {
  it('is the label without its numbers', () => {
    const name = (label: string): string => seriesName({ ...run(0, {}), label });
    expect(name('dataset_name random, request_rate 1.0')).toBe('dataset_name random');
    expect(name('request_rate inf')).toBe('request_rate inf');
  });
});

describe('isCount', () => {
  it('tells counts from times', () => {
    const difference = { metric: null, bench: 1, server: 1, difference: 0 };
    expect(isCount({ ...difference, what: 'requests' })).toBe(true);
    expect(isCount({ ...difference, what: 'ttft.mean_ns' })).toBe(false);
  });
});
