/** What a percentile table says of one quantity, in the unit of its values. */
export interface Distribution {
  readonly n: number;
  readonly mean: number;
  readonly std: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

/** Percentile by linear interpolation between the two nearest ranks; `sorted` ascending, not empty. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const below = sorted[low] ?? Number.NaN;
  const above = sorted[Math.min(low + 1, sorted.length - 1)] ?? below;
  return below + (above - below) * (at - low);
}

/** Null for no values. The standard deviation is the population's (divided by n). */
export function distribution(values: ArrayLike<number>): Distribution | null {
  const n = values.length;
  if (n === 0) return null;
  const sorted = Float64Array.from(values).sort();
  let sum = 0;
  for (const value of sorted) sum += value;
  const mean = sum / n;
  let squares = 0;
  for (const value of sorted) squares += (value - mean) ** 2;
  return {
    n,
    mean,
    std: Math.sqrt(squares / n),
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
  };
}
