import { describe, expect, it } from 'vitest';
import { fourRequests } from './fixture';
import { readWorkload, type Workload } from './model';
import { documentSets, quantitiesOf, readStatistics, statisticsOf } from './percentiles';

describe('readStatistics', () => {
  it('takes what there is', () => {
    expect(readStatistics({ p50_ns: 5, mean_ns: null })).toEqual({ mean: null, std: null, p50: 5, p90: null, p95: null, p99: null });
  });

  it('is null where there is nothing', () => {
    expect([null, {}, { p50_ns: null }, 3].map(readStatistics)).toEqual([null, null, null, null]);
  });
});

describe('statisticsOf', () => {
  const requests = readWorkload(fourRequests())?.requests ?? [];
  const all = Uint8Array.of(1, 1, 1, 1);

  it('agrees with the document over all requests', () => {
    // TTFT of 10, 20 and 30 ms: mean 20, variance 200 / 3.
    const found = statisticsOf(requests, all, 'ttft');
    expect(found).toMatchObject({ mean: 20e6, p50: 20e6, p90: 28e6, p95: 29e6 });
    expect(Math.round(found?.std ?? 0)).toBe(8164966);
  });

  it('counts neither failed requests nor others than the selected', () => {
    expect(statisticsOf(requests, all, 'queue')).toMatchObject({ p50: 5e6 });
    expect(statisticsOf(requests, Uint8Array.of(0, 1, 0, 1), 'ttft')).toMatchObject({ mean: 20e6, p99: 20e6 });
    expect(statisticsOf(requests, Uint8Array.of(0, 0, 0, 1), 'ttft')).toBeNull();
  });

  it('puts the times between tokens of all requests together', () => {
    // 20 20, 20 30, 20 40: mean 25.
    expect(statisticsOf(requests, all, 'itl')).toMatchObject({ mean: 25e6, p50: 20e6 });
  });
});

describe('documentSets', () => {
  function compared(): Workload {
    const document_ = {
      ...(fourRequests() as object),
      run: 0,
      runs: [
        {
          index: 0,
          summary: {},
          file_summary: { ttft: { mean_ns: 20e6, p99_ns: 31e6 }, itl: { mean_ns: 25e6 } },
          comparison: [
            { what: 'ttft.mean_ns', ours: 20e6, file: 20e6, difference: 0, agrees: true },
            { what: 'ttft.p99_ns', ours: 29.8e6, file: 31e6, difference: -1.2e6, agrees: false },
            { what: 'itl.mean_ns', ours: 25e6, file: 25e6, difference: 0, agrees: true },
          ],
        },
      ],
      server_summary: { engine: 'vllm', ttft: { metric: 'vllm:time_to_first_token_seconds', count: 3, mean_ns: 15e6 } },
      differences: [{ what: 'ttft.mean_ns', bench: 20e6, server: 15e6, difference: 5e6 }],
    };
    const read = readWorkload(document_);
    if (read === null) throw new Error('no workload');
    return read;
  }

  it('puts the requests, the file and the server side by side', () => {
    const [own, file, server] = documentSets(compared());
    expect([own?.name, file?.name, server?.name]).toEqual(['requests', 'file', 'server']);
    expect([own, file, server].map((set) => set?.figures.ttft?.mean)).toEqual([20e6, 20e6, 15e6]);
    expect(server?.deltas.get('ttft.mean_ns')).toBe(5e6);
  });

  it('takes limits of percentiles as the document gives them', () => {
    const queue = { count: 100, mean_ns: 71e3, p50_ns: 142e3, p99_ns: 300e6, quantile_bounds: { p50_ns: 'at_most', p99_ns: 'at_least', p90_ns: 3 } };
    const server = documentSets({ ...compared(), server_summary: { queue } }).at(-1);
    expect([...(server?.bounds ?? [])]).toEqual([['queue.p50_ns', 'at_most'], ['queue.p99_ns', 'at_least']]);
  });

  it('marks percentiles of the server as estimates, and nothing that was measured', () => {
    const [own, file, server] = documentSets(compared());
    const estimates = ['ttft.mean_ns', 'ttft.p50_ns', 'ttft.p99_ns'].map((figure) => [own, file, server].map((set) => set?.isEstimate(figure)));
    expect(estimates).toEqual([[false, false, false], [false, false, true], [false, false, true]]);
  });

  it('says where the file agrees and how far it is off where not', () => {
    const file = documentSets(compared())[1];
    expect([...(file?.agreeing ?? [])]).toEqual(['itl']);
    expect([...(file?.deltas ?? [])]).toEqual([['ttft.p99_ns', -1.2e6]]);
  });

  it('is one set where there is nothing to compare', () => {
    const read = readWorkload(fourRequests());
    expect(read === null ? [] : documentSets(read).map(({ name }) => name)).toEqual(['requests']);
  });
});

describe('quantitiesOf', () => {
  it('adds what the file alone has', () => {
    expect(quantitiesOf({ from: 'file', completed: 3, normalized_time_per_output_token: { p50_ns: 4 }, queue: null })).toEqual([
      'ttft', 'tpot', 'itl', 'e2e', 'queue', 'normalized_time_per_output_token',
    ]);
  });
});
