/** Figures of one node over layers; times are whole nanoseconds. */
export interface Spread {
  readonly n: number;
  readonly sumNs: number;
  readonly avgNs: number;
  readonly minNs: number;
  readonly maxNs: number;
  readonly p50Ns: number;
  readonly stdNs: number;
  /** Places of the smallest and the largest value in what was given. */
  readonly minAt: number;
  readonly maxAt: number;
}

/** Rounded as the engine does: half to even. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Null without a value. Absent values (null) do not count; the median is the lower of two. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  let n = 0;
  let sum = 0;
  let minAt = -1;
  let maxAt = -1;
  let min = Infinity;
  let max = -Infinity;
  values.forEach((value, at) => {
    if (value === null) return;
    n += 1;
    sum += value;
    if (value < min) [min, minAt] = [value, at];
    if (value > max) [max, maxAt] = [value, at];
  });
  if (n === 0) return null;
  const present = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
  const mean = sum / n;
  const variance = present.reduce((total, value) => total + (value - mean) ** 2, 0) / n;
  return {
    n,
    sumNs: sum,
    avgNs: roundHalfEven(mean),
    minNs: min,
    maxNs: max,
    p50Ns: present[Math.floor((n - 1) / 2)] ?? 0,
    stdNs: Math.round(Math.sqrt(variance)),
    minAt,
    maxAt,
  };
}

/** How far a value is from another, in percent of that: "+1.2 %", "−0.4 %". */
export function differenceText(value: number | null, from: number | null): string {
  if (value === null || from === null || from === 0) return '–';
  const percent = (100 * (value - from)) / from;
  const digits = Math.abs(percent).toFixed(1);
  const sign = digits === '0.0' ? '±' : percent > 0 ? '+' : '−';
  return `${sign}${digits}\u00a0%`;
}
