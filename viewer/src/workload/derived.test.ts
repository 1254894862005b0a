import { describe, expect, it } from 'vitest';
import { positionsOf, shapeOf, shownOf, viewOf } from './derived';
import { fourRequests } from './fixture';
import { readWorkload, type Workload } from './model';
import { requestColumns, requestCsv } from './request_columns';
import { largest } from './slowest';

function workload(): Workload {
  const read = readWorkload(fourRequests());
  if (read === null) throw new Error('the fixture is no workload');
  return read;
}

describe('shapeOf', () => {
  it('tells the classes by the threshold of the document', () => {
    const shape = shapeOf(workload());
    expect(shape.classes).toEqual(['direct', 'direct', 'queued', 'failed']);
    expect(shape.counts).toEqual({ direct: 2, queued: 1, unknown: 0, failed: 1 });
  });

  it('knows none without a threshold or without a wait', () => {
    expect(shapeOf({ ...workload(), queue_threshold_ns: null }).classes.slice(0, 3)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('has the limits of each quantity', () => {
    const { limits } = shapeOf(workload());
    expect(limits.input).toEqual([100, 400]);
    expect(limits.ttft).toEqual([10e6, 30e6]);
    expect(limits.time).toEqual([0, 300e6]);
    // What a request waited before it was sent is no part of its flight.
    const waited = workload().requests.map((request) => ({ ...request, queue_ns: 5e9 }));
    expect(shapeOf({ ...workload(), requests: waited }).limits.time).toEqual([0, 300e6]);
  });
});

describe('viewOf', () => {
  const { requests } = workload();

  it('selects nothing without a range', () => {
    expect(viewOf(requests, shownOf(requests, undefined), {})).toMatchObject({ shownCount: 4, selected: null, selectedCount: 0 });
  });

  it('selects only among what the filter shows', () => {
    const view = viewOf(requests, shownOf(requests, { low: 150, high: 400 }), { ttft: { low: 0, high: 25e6 } });
    expect(positionsOf(view.shown)).toEqual([1, 2, 3]);
    expect(positionsOf(view.selected ?? new Uint8Array())).toEqual([1]);
    expect(view.selectedCount).toBe(1);
  });
});

describe('the file of requests', () => {
  it('has the keys and the exact numbers of the document', () => {
    const { requests } = workload();
    const columns = requestColumns(requests);
    const rows = requests.map((request, position) => ({ position, request, kind: 'direct' as const }));
    const [head, first, , , last] = requestCsv(columns, rows);
    expect(head).toEqual([
      'index', 'ok', 'start_ns', 'queue_ns', 'ttft_ns', 'tpot_ns', 'decode_ns', 'e2e_ns', 'input_tokens', 'output_tokens', 'error',
    ]);
    expect(first).toEqual([0, 'true', 0, 0, 10e6, 20e6, 40e6, 50e6, 100, 3, null]);
    expect(last?.slice(0, 5)).toEqual([3, 'false', 300e6, 1e6, null]);
  });
});

describe('largest', () => {
  it('is of the shown requests and in order', () => {
    const { requests } = workload();
    expect(largest(requests, 'queue_ns', Uint8Array.of(1, 1, 1, 1), 2)).toEqual([2, 1]);
    expect(largest(requests, 'ttft_ns', Uint8Array.of(1, 1, 0, 1), 5)).toEqual([1, 0]);
  });
});
