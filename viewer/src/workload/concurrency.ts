import type { ConcurrencyPoint } from './model';

/**
 * The step curve as at most a few points a pixel: of the steps inside one pixel the first, the lowest, the
 * highest and the last stay, so that no peak is lost. `points` ascend in time.
 */
export function thin(points: readonly ConcurrencyPoint[], toPixel: (t_ns: number) => number): ConcurrencyPoint[] {
  const out: ConcurrencyPoint[] = [];
  let column = Number.NaN;
  let low: ConcurrencyPoint | null = null;
  let high: ConcurrencyPoint | null = null;
  let last: ConcurrencyPoint | null = null;
  const flush = (): void => {
    const kept = [low, high, last].filter((point): point is ConcurrencyPoint => point !== null);
    kept.sort((a, b) => a.t_ns - b.t_ns);
    for (const point of kept) if (out.at(-1) !== point) out.push(point);
  };
  for (const point of points) {
    const pixel = Math.floor(toPixel(point.t_ns));
    if (pixel !== column) {
      flush();
      column = pixel;
      out.push(point);
      low = high = last = point;
      continue;
    }
    if (low === null || point.n < low.n) low = point;
    if (high === null || point.n > high.n) high = point;
    last = point;
  }
  flush();
  return out;
}

/** How many requests were in flight at `t_ns`: the value of the last step at or before it. */
export function concurrencyAt(points: readonly ConcurrencyPoint[], t_ns: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.t_ns ?? Infinity) <= t_ns) low = middle + 1;
    else high = middle;
  }
  return points[low - 1]?.n ?? 0;
}

export function peakConcurrency(points: readonly ConcurrencyPoint[]): number | null {
  return points.length === 0 ? null : points.reduce((most, point) => Math.max(most, point.n), 0);
}
