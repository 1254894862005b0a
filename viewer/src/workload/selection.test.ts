import { describe, expect, it } from 'vitest';
import { request } from './fixture';
import { decodeRanges, encodeRanges, isEmpty, mask, matches, withRanges } from './selection';

describe('matches', () => {
  it('includes both ends of a range', () => {
    const ranges = { input: { low: 100, high: 200 } };
    expect([99, 100, 200, 201].map((input_tokens) => matches(request({ input_tokens }), ranges))).toEqual([
      false, true, true, false,
    ]);
  });

  it('asks for all ranges at once', () => {
    const ranges = { input: { low: 0, high: 200 }, ttft: { low: 50, high: 60 } };
    expect(matches(request({ ttft_ns: 55 }), ranges)).toBe(true);
    expect(matches(request({ ttft_ns: 10 }), ranges)).toBe(false);
  });

  it('leaves out what has no value', () => {
    expect(matches(request({ ttft_ns: null }), { ttft: { low: 0, high: 1e12 } })).toBe(false);
  });

  it('takes for a time all that was in flight then', () => {
    const during = { time: { low: 100, high: 200 } };
    const at = (start_ns: number | null, e2e_ns: number | null): boolean => matches(request({ start_ns, e2e_ns }), during);
    expect(at(0, 99)).toBe(false);
    expect(at(0, 100)).toBe(true);
    expect(at(0, 1000)).toBe(true);
    expect(at(200, 10)).toBe(true);
    expect(at(201, 10)).toBe(false);
    expect(at(null, 10)).toBe(false);
  });
});

describe('mask', () => {
  it('marks by position', () => {
    expect([...mask([request({ ok: false }), request()], ({ ok }) => ok)]).toEqual([0, 1]);
  });
});

describe('withRanges', () => {
  it('replaces, keeps and takes away', () => {
    const range = { low: 1, high: 2 };
    const ranges = withRanges({ input: range, ttft: range }, { ttft: null, decode: { low: 3, high: 4 } });
    expect(ranges).toEqual({ input: range, decode: { low: 3, high: 4 } });
    expect(isEmpty(withRanges({ input: range }, { input: null }))).toBe(true);
  });
});

describe('ranges in the address', () => {
  it('come back as they were', () => {
    const ranges = { input: { low: 1, high: 2 }, time: { low: -364179, high: 12345678901234 } };
    expect(encodeRanges(ranges)).toBe('input:1..2,time:-364179..12345678901234');
    expect(decodeRanges(encodeRanges(ranges))).toEqual(ranges);
  });

  it('are put in order and what is strange is left out', () => {
    expect(decodeRanges('input:9..3,unknown:1..2,ttft:x..2,decode:..,<script>')).toEqual({ input: { low: 3, high: 9 } });
  });
});
