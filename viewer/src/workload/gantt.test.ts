import { describe, expect, it } from 'vitest';
import { hitRow, makeBars } from './bars';
import { request } from './fixture';
import { ganttExtent, ganttOrder, phasesOf, scrollToRow, visibleRows } from './gantt';

describe('phasesOf', () => {
  it('is wait, prefill, decode, each where the other ends', () => {
    expect(phasesOf(request({ start_ns: 100, queue_ns: 40, ttft_ns: 10, e2e_ns: 30 }))).toEqual([
      { phase: 'queue', start_ns: 60, end_ns: 100 },
      { phase: 'prefill', start_ns: 100, end_ns: 110 },
      { phase: 'decode', start_ns: 110, end_ns: 130 },
    ]);
  });

  it('has no decode for a single token and no wait where none is known', () => {
    expect(phasesOf(request({ queue_ns: null, ttft_ns: 30, e2e_ns: 30 })).map(({ phase }) => phase)).toEqual(['prefill']);
  });

  it('is one stretch where only the end is known, nothing without a start', () => {
    expect(phasesOf(request({ queue_ns: null, ttft_ns: null, e2e_ns: 30 }))).toEqual([
      { phase: 'whole', start_ns: 0, end_ns: 30 },
    ]);
    expect(phasesOf(request({ start_ns: null }))).toEqual([]);
  });

  it('takes the decode time where the end is not known', () => {
    expect(phasesOf(request({ e2e_ns: null, decode_ns: 7 })).at(-1)).toEqual({ phase: 'decode', start_ns: 10, end_ns: 17 });
  });
});

describe('rows', () => {
  const requests = [request({ start_ns: 50 }), request({ start_ns: 10 }), request({ start_ns: null }), request({ start_ns: 50 })];

  it('stand in order of start; those without one and those filtered out do not', () => {
    expect(ganttOrder(requests, Uint8Array.of(1, 1, 1, 1))).toEqual([1, 0, 3]);
    expect(ganttOrder(requests, Uint8Array.of(1, 0, 1, 1))).toEqual([0, 3]);
  });

  it('reach from the first wait to the last token', () => {
    expect(ganttExtent([request({ start_ns: 5, queue_ns: 20, e2e_ns: 30 }), request({ start_ns: 40, e2e_ns: 3 })])).toEqual([-15, 43]);
    expect(ganttExtent([request({ start_ns: null })])).toBeNull();
  });

  it('are only those in the window', () => {
    expect(visibleRows(100, 10, 95, 20)).toEqual([9, 12]);
    expect(visibleRows(3, 10, 0, 400)).toEqual([0, 3]);
    expect(visibleRows(10_000, 0.034, 0, 340)).toEqual([0, 10_000]);
    expect(visibleRows(0, 10, 50, 20)).toEqual([0, 0]);
  });

  it('scroll only as far as needed', () => {
    expect(scrollToRow(5, 10, 0, 100)).toBe(0);
    expect(scrollToRow(12, 10, 0, 100)).toBe(30);
    expect(scrollToRow(2, 10, 50, 100)).toBe(20);
  });
});

describe('makeBars', () => {
  it('keeps the stretches of each request together', () => {
    const bars = makeBars([request(), request({ start_ns: null }), request({ queue_ns: 5 })]);
    expect([...bars.first]).toEqual([0, 2, 2, 5]);
    expect(bars.phase).toEqual(['prefill', 'decode', 'queue', 'prefill', 'decode']);
    expect([...bars.position]).toEqual([0, 0, 2, 2, 2]);
  });
});

describe('hitRow', () => {
  it('is the row under the pointer', () => {
    expect(hitRow([7, 8, 9], 10, 15, () => false)).toBe(8);
    expect(hitRow([7, 8, 9], 10, 35, () => true)).toBeNull();
  });

  it('in rows thinner than a pixel is one near it that was in flight', () => {
    const order = Array.from({ length: 100 }, (_, i) => i);
    expect(hitRow(order, 0.1, 5, (position) => position === 57)).toBe(57);
    expect(hitRow(order, 0.1, 5.05, () => false)).toBe(50);
  });
});
