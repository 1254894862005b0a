/** What people type into range fields. */

const UNITS_NS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, min: 60e9 };

/**
 * `12 ms`, `1.5s`, `250` (a bare time is milliseconds) as whole ns; `1,024` as tokens. Null for what is no amount.
 */
export function parseAmount(text: string, unit: 'ns' | 'tokens'): number | null {
  const found = /^(-?[\d\s,_.]+(?:e[+-]?\d+)?)\s*([a-zµμ]*)$/i.exec(text.trim());
  if (found === null) return null;
  const value = Number((found[1] ?? '').replaceAll(/[\s,_]/g, ''));
  if (!Number.isFinite(value) || (found[1] ?? '').trim() === '') return null;
  const suffix = (found[2] ?? '').toLowerCase();
  if (unit === 'tokens') return suffix === '' ? value : null;
  const factor = suffix === '' ? 1e6 : UNITS_NS[suffix];
  return factor === undefined ? null : Math.round(value * factor);
}
