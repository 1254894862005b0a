/**
 * Numbers as they should stand on the screen, made here apart from the app's own formatting, so
 * that a fault in it shows.
 */
export function time(ns: number): string {
  for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']] as const) {
    if (Math.abs(ns) < size * 0.99995) continue;
    // Whole steps of the last digit, so that a half is rounded as on paper.
    for (const decimals of [3, 2, 1, 0]) {
      const steps = Math.round(Math.abs(ns) / (size / 10 ** decimals));
      if (steps >= 10_000 && decimals > 0) continue;
      const digits = (steps / 10 ** decimals).toLocaleString('en-US', { minimumFractionDigits: decimals });
      return `${ns < 0 ? '-' : ''}${digits} ${unit}`;
    }
  }
  return `${ns} ns`;
}

export function percent(part: number, whole: number): string {
  const value = (100 * part) / whole;
  if (value > 0 && value < 0.05) return '< 0.1 %';
  if (value < 100 && value > 99.95) return '99.9 %';
  return `${value.toFixed(1)} %`;
}
