import { describe, expect, it } from 'vitest';
import { parseAmount } from './amount';
import { heatOf, rankShares } from './heat';

describe('parseAmount', () => {
  it('reads times with and without a unit', () => {
    expect(['12 ms', '1.5s', '250', '364.2 µs', '3us', '7 ns', '1,000 ms', '2\u00a0ms'].map((text) => parseAmount(text, 'ns'))).toEqual([
      12e6, 1.5e9, 250e6, 364_200, 3000, 7, 1e9, 2e6,
    ]);
  });

  it('reads tokens', () => {
    expect(['1,024', ' 7 ', '12 ms', ''].map((text) => parseAmount(text, 'tokens'))).toEqual([1024, 7, null, null]);
  });

  it('refuses what is no amount', () => {
    for (const text of ['', 'x', '1.2.3', '5 parsecs', '--3', '.', 'ms']) expect(parseAmount(text, 'ns')).toBeNull();
  });

  it('reads times before the first request', () => {
    expect(parseAmount('-364.2 µs', 'ns')).toBe(-364_200);
  });
});

describe('heat', () => {
  it('goes by rank, with one rank for equal values', () => {
    expect([...rankShares([10, null, 1000, 20, 20])]).toEqual([0, Number.NaN, 1, 1 / 3, 1 / 3]);
    expect([...rankShares([5, 5, 5])]).toEqual([0, 0, 0]);
  });

  it('shades the slower half', () => {
    expect([0, 0.5, 0.75, 1, Number.NaN].map(heatOf)).toEqual([0, 0, 0.5, 1, 0]);
  });
});
