import { describe, expect, it } from 'vitest';
import { distribution, percentile } from './stats';

describe('percentile', () => {
  it('interpolates between neighbours, as numpy does by default', () => {
    // numpy.percentile([10, 20, 30, 40], [50, 90, 95, 99]) = 25, 37, 38.5, 39.7
    const sorted = [10, 20, 30, 40];
    expect([0.5, 0.9, 0.95, 0.99].map((share) => Number(percentile(sorted, share).toFixed(9)))).toEqual([
      25, 37, 38.5, 39.7,
    ]);
  });

  it('of one value is that value', () => {
    expect(percentile([7], 0.99)).toBe(7);
  });
});

describe('distribution', () => {
  it('is of the values in any order', () => {
    // Mean 5, squares 9 1 1 1 0 0 4 16: variance 32 / 8 = 4.
    expect(distribution([9, 2, 4, 4, 5, 4, 5, 7])).toMatchObject({ n: 8, mean: 5, std: 2, p50: 4.5 });
  });

  it('of nothing is nothing', () => {
    expect(distribution([])).toBeNull();
  });
});
