/** Points of a scatter plot: where they lie, which is nearest, in which order the keyboard visits them. */
import type { Axis } from './axis';
import type { Range } from './selection';
import type { Point } from './use_drag';

/**
 * Positions of the requests that have both values and that `keep` marks; on logarithmic scales both must be
 * above zero.
 */
export function plotted(xs: Float64Array, ys: Float64Array, keep: Uint8Array, log: boolean): number[] {
  const out: number[] = [];
  const fits = (value: number): boolean => Number.isFinite(value) && (!log || value > 0);
  for (let i = 0; i < xs.length; i += 1) {
    if (keep[i] === 1 && fits(xs[i] ?? Number.NaN) && fits(ys[i] ?? Number.NaN)) out.push(i);
  }
  return out;
}

/** Smallest and largest value at some positions; null for none. */
export function extentAt(values: Float64Array, positions: readonly number[]): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const position of positions) {
    const value = values[position] ?? Number.NaN;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/** The position nearest to a pixel, not farther than `reach` pixels; null when none is so near. */
export function nearest(
  positions: readonly number[],
  pixel: (position: number) => Point,
  at: Point,
  reach: number,
): number | null {
  let best: number | null = null;
  let least = reach * reach;
  for (const position of positions) {
    const { x, y } = pixel(position);
    const squared = (x - at.x) ** 2 + (y - at.y) ** 2;
    if (squared <= least) {
      best = position;
      least = squared;
    }
  }
  return best;
}

/** `positions` from left to right, then from bottom to top. */
export function readingOrder(positions: readonly number[], xs: Float64Array, ys: Float64Array): number[] {
  const value = (values: Float64Array, position: number): number => values[position] ?? 0;
  return [...positions].sort((a, b) => value(xs, a) - value(xs, b) || value(ys, a) - value(ys, b) || a - b);
}

/** The element `step` further on, held at the ends; the first when `current` is none of them. */
export function stepTo(order: readonly number[], current: number | null, step: number): number | null {
  const at = current === null ? -1 : order.indexOf(current);
  if (at < 0) return order[0] ?? null;
  return order[Math.max(0, Math.min(order.length - 1, at + step))] ?? null;
}

/** The whole values between two pixels of an axis: nanoseconds and tokens have no fractions. */
export function brushed(axis: Axis, from_px: number, to_px: number): Range {
  const values = [axis.invert(from_px), axis.invert(to_px)];
  return { low: Math.ceil(Math.min(...values)), high: Math.floor(Math.max(...values)) };
}

/** The pixels that a range covers, within the ends of its axis; the whole axis for none. */
export function covered(axis: Axis, range: Range | undefined, ends: readonly [number, number]): [number, number] {
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  if (range === undefined) return [low, high];
  const hold = (pixel: number): number =>
    Number.isFinite(pixel) ? Math.max(low, Math.min(high, pixel)) : low;
  const pixels = [hold(axis.scale(range.low)), hold(axis.scale(range.high))];
  return [Math.min(...pixels), Math.max(...pixels)];
}
