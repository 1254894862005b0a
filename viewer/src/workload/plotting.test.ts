import { describe, expect, it } from 'vitest';
import { makeAxis } from './axis';
import { brushed, covered, extentAt, nearest, plotted, readingOrder, stepTo } from './plotting';
import { panned, zoomed } from './zoom';

const xs = Float64Array.of(3, 1, Number.NaN, 2, 0);
const ys = Float64Array.of(1, 9, 5, 5, 5);
const all = Uint8Array.of(1, 1, 1, 1, 1);

describe('points', () => {
  it('are those with both values, above zero on a logarithmic scale', () => {
    expect(plotted(xs, ys, all, false)).toEqual([0, 1, 3, 4]);
    expect(plotted(xs, ys, all, true)).toEqual([0, 1, 3]);
    expect(plotted(xs, ys, Uint8Array.of(0, 1, 1, 1, 0), false)).toEqual([1, 3]);
    expect(extentAt(xs, [0, 1])).toEqual([1, 3]);
    expect(extentAt(xs, [])).toBeNull();
  });

  it('are walked from left to right and held at the ends', () => {
    const order = readingOrder([0, 1, 3, 4], xs, ys);
    expect(order).toEqual([4, 1, 3, 0]);
    expect(stepTo(order, null, 1)).toBe(4);
    expect(stepTo(order, 1, 1)).toBe(3);
    expect(stepTo(order, 0, 1)).toBe(0);
    expect(stepTo(order, 3, -10)).toBe(4);
    expect(stepTo([], null, 1)).toBeNull();
  });

  it('are hit within reach only', () => {
    const pixel = (position: number): { x: number; y: number } => ({ x: position * 100, y: 0 });
    expect(nearest([0, 1, 2], pixel, { x: 104, y: 3 }, 14)).toBe(1);
    expect(nearest([0, 1, 2], pixel, { x: 150, y: 0 }, 14)).toBeNull();
  });
});

describe('brush', () => {
  const axis = makeAxis([0, 100], [0, 1000], { kind: 'tokens' });

  it('selects whole values between its edges', () => {
    expect(brushed(axis, 555, 104)).toEqual({ low: 11, high: 55 });
  });

  it('is drawn where its range lies, within the field', () => {
    expect(covered(axis, { low: 10, high: 2000 }, [0, 1000])).toEqual([100, 1000]);
    expect(covered(axis, undefined, [1000, 0])).toEqual([0, 1000]);
  });
});

describe('zoom', () => {
  it('keeps the time under the pointer in place', () => {
    expect(zoomed([0, 8000], [0, 8000], 2, 2000)).toEqual([1000, 5000]);
  });

  it('stays inside the run and goes back to all of it', () => {
    expect(zoomed([0, 8000], [0, 8000], 4, 8000)).toEqual([6000, 8000]);
    expect(zoomed([1000, 5000], [0, 8000], 0.1, 2000)).toBeNull();
    expect(panned([1000, 5000], [0, 8000], 10)).toEqual([4000, 8000]);
    expect(panned([0, 8000], [0, 8000], 0.2)).toBeNull();
  });

  it('has an end', () => {
    expect(zoomed([0, 1500], [0, 8000], 100, 0)).toEqual([0, 1000]);
  });
});
