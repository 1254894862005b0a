import { describe, expect, it } from 'vitest';
import { concurrencyAt, peakConcurrency, thin } from './concurrency';

const steps = [
  { t_ns: 0, n: 1 },
  { t_ns: 10, n: 4 },
  { t_ns: 12, n: 0 },
  { t_ns: 14, n: 2 },
  { t_ns: 30, n: 3 },
];

describe('thin', () => {
  it('keeps first, lowest, highest and last of each pixel', () => {
    expect(thin(steps, (t) => t / 20)).toEqual([steps[0], steps[1], steps[2], steps[3], steps[4]]);
    const many = Array.from({ length: 20_000 }, (_, i) => ({ t_ns: i, n: i === 7777 ? 99 : 5 }));
    const few = thin(many, (t) => t / 100);
    expect(few.length).toBeLessThanOrEqual(4 * 200);
    expect(peakConcurrency(few)).toBe(99);
    expect(few.at(-1)).toEqual({ t_ns: 19_999, n: 5 });
  });

  it('of nothing is nothing', () => {
    expect(thin([], (t) => t)).toEqual([]);
    expect(peakConcurrency([])).toBeNull();
  });
});

describe('concurrencyAt', () => {
  it('is the last step at or before a time', () => {
    expect([-1, 0, 9, 10, 13, 100].map((t) => concurrencyAt(steps, t))).toEqual([0, 1, 1, 4, 0, 3]);
  });
});
