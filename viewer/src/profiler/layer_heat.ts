import type { LayersData } from '../data/analyses';
import { ns } from '../ui/format';
import { words } from '../ui/palette';
import type { HeatRow } from './heat_map';

/** Of all values; at least 1, so that it can be divided by. */
export function largest(rows: readonly (readonly (number | null)[])[]): number {
  return rows.reduce((most, row) => row.reduce<number>((max, value) => Math.max(max, value ?? 0), most), 1);
}

/** A row a category, with the most time first. */
export function categoryRows(data: LayersData): readonly HeatRow[] {
  const layers = data.layers ?? [];
  const totals = new Map<string, number>();
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer.by_category)) totals.set(name, (totals.get(name) ?? 0) + value);
  }
  const sorted = [...totals].sort(([, a], [, b]) => b - a);
  const rows = sorted.map(([name, total]) => {
    const values = layers.map((layer) => layer.by_category[name] ?? null);
    return { key: name, label: words(name), values, note: ns(total) };
  });
  const full = largest(rows.map((row) => row.values));
  return rows.map((row) => ({ ...row, full }));
}

/** More rows than this are no picture; passes are then chosen at even distances. */
export const MOST_PASSES = 150;

/** Places of at most `most` of `n`, first and last among them. */
export function evenlyChosen(n: number, most: number): readonly number[] {
  const shown = Math.min(n, most);
  return Array.from({ length: shown }, (_, i) => (shown === n ? i : Math.round((i * (n - 1)) / (shown - 1))));
}

/** A row a pass, all on one scale. */
export function passRows(data: LayersData): readonly HeatRow[] {
  const rows = data.rows ?? [];
  const full = rows.reduce((most, row) => Math.max(most, row.max_ns), 1);
  const passes = data.passes ?? [];
  return evenlyChosen(passes.length, MOST_PASSES).map((at) => {
    const pass = passes[at] ?? at;
    const values = rows.map((row) => row.by_pass[at] ?? null);
    const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0);
    return { key: String(pass), label: `pass ${pass}`, values, full, note: ns(sum) };
  });
}
