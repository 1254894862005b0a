import { describe, expect, it } from 'vitest';
import { extent, makeAxis, plotDomain, timeUnit } from './axis';

describe('makeAxis', () => {
  it('writes times in one unit that fits', () => {
    const axis = makeAxis([0, 80e6], [0, 400], { kind: 'ns', ticks: 4 });
    expect(axis.unit).toBe('ms');
    expect(axis.ticks.map(({ text }) => text)).toEqual(['0', '20', '40', '60', '80']);
    expect(axis.scale(40e6)).toBe(200);
    expect(axis.invert(200)).toBe(40e6);
  });

  it('tells ticks of a narrow window apart', () => {
    const texts = makeAxis([100e9, 100e9 + 4000], [0, 400], { kind: 'ns', ticks: 4 }).ticks.map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toContain('100.000001');
  });

  it('has whole tokens only', () => {
    const axis = makeAxis([31, 33], [0, 900], { kind: 'tokens', ticks: 10 });
    expect(axis.ticks.map(({ text }) => text)).toEqual(['31', '32', '33']);
    expect(axis.unit).toBe('');
  });

  it('is linear where a logarithm has no place', () => {
    expect(makeAxis([0, 10], [0, 100], { kind: 'tokens', log: true }).log).toBe(false);
    expect(makeAxis([1, 10], [0, 100], { kind: 'tokens', log: true }).log).toBe(true);
  });

  it('thins the ticks of a logarithmic axis to 1, 2 and 5', () => {
    const axis = makeAxis([10, 10_000], [0, 400], { kind: 'tokens', log: true, ticks: 4 });
    expect(axis.ticks.map(({ value }) => value)).toEqual([10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]);
  });

  it('has a width where all values are one', () => {
    expect(makeAxis([5, 5], [0, 100], { kind: 'count' }).scale(5)).toBe(0);
  });
});

describe('plotDomain', () => {
  it('begins at zero', () => {
    expect(plotDomain([10, 100], false, 'ns')).toEqual([0, 106]);
    expect(plotDomain([10, 100], false, 'tokens')).toEqual([0, 106]);
  });

  it('does not for lengths that are nearly the same', () => {
    expect(plotDomain([32, 33], false, 'tokens')).toEqual([30, 35]);
    expect(plotDomain([1, 1], false, 'tokens')).toEqual([0, 3]);
  });

  it('takes values of nothing and of zero', () => {
    expect(plotDomain(null, false, 'ns')).toEqual([0, 1]);
    expect(plotDomain([0, 0], false, 'ns')).toEqual([0, 1]);
  });
});

describe('extent', () => {
  it('passes over what is unknown and what is not kept', () => {
    expect(extent([Number.NaN, 3, 9, 1], Uint8Array.of(1, 1, 1, 0))).toEqual([3, 9]);
    expect(extent([Number.NaN])).toBeNull();
  });
});

describe('timeUnit', () => {
  it('changes at one of the next unit', () => {
    expect([999, 1000, 999_999, 1e6, 1e9].map((ns) => timeUnit(ns).unit)).toEqual(['ns', 'µs', 'µs', 'ms', 's']);
  });
});
