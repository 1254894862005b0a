import { describe, expect, it } from 'vitest';
import { fourRequests } from './fixture';
import { readWorkload } from './model';

describe('readWorkload', () => {
  it('keeps every number of the document', () => {
    const workload = readWorkload(fourRequests());
    expect(workload?.requests).toHaveLength(4);
    expect(workload?.requests[2]).toMatchObject({ ttft_ns: 30e6, queue_ns: 80e6, itl_ns: [20e6, 40e6], ok: true });
    expect(workload?.requests[3]).toMatchObject({ ttft_ns: null, ok: false });
    expect(workload?.queue_threshold_ns).toBe(10e6);
    expect(workload?.concurrency).toHaveLength(3);
  });

  it('refuses what is no workload document', () => {
    for (const value of [null, 3, [], {}, { schema: 'layerscope/requests/1' }, 'layerscope/workload/1']) {
      expect(readWorkload(value)).toBeNull();
    }
  });

  it('takes a document whose parts are missing or of another kind', () => {
    const workload = readWorkload({
      schema: 'layerscope/workload/1',
      requests: [null, 7, { index: 'x', ttft_ns: 'soon', itl_ns: [1, null, 'a', Number.NaN, 2] }],
      summary: [],
      concurrency: [{ t_ns: 1 }, { t_ns: 1, n: 2 }, null],
      server: { a: 3, b: { type: 'gauge', series: [{ value: 1, labels: { engine: 0 } }, null] } },
    });
    expect(workload?.requests.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(workload?.requests[2]).toMatchObject({ ttft_ns: null, itl_ns: [1, 2], ok: true });
    expect(workload?.concurrency).toEqual([{ t_ns: 1, n: 2 }]);
    expect(workload?.server).toEqual([{ metric: 'b', labels: { engine: '0' }, fields: { value: 1 } }]);
  });
});
