/** Shades of a table's column. */

/**
 * For each value the share of the others that are smaller, 0 to 1; NaN where there is no value. Ranks, not
 * values: one outlier leaves the rest of the column readable.
 */
export function rankShares(values: readonly (number | null)[]): Float64Array {
  const known = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
  const below = new Map<number, number>();
  known.forEach((value, rank) => {
    if (!below.has(value)) below.set(value, rank);
  });
  const others = Math.max(1, known.length - 1);
  return Float64Array.from(values, (value) =>
    value === null ? Number.NaN : (below.get(value) ?? 0) / others,
  );
}

/** Only the slower half is shaded, the slowest most: 0 to 1. */
export function heatOf(rankShare: number): number {
  return Number.isFinite(rankShare) ? Math.max(0, rankShare - 0.5) * 2 : 0;
}
