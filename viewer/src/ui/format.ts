/** Numbers as people read them. Always with a unit; a no-break space stands before it. */

const GAP = '\u00a0';
/** What stands where a value is not known. Not zero. */
export const UNKNOWN = '–';

export type Maybe = number | null | undefined;

function known(value: Maybe): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

/** Four digits that count: 1.234, 12.34, 123.4, 1,234. */
function fourDigits(value: number): string {
  const size = Math.abs(value);
  const decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
  return grouped(value, decimals);
}

// A table asks for hundreds of numbers a frame; making a formatter costs fifty times as much as using one.
const FORMATS = [0, 1, 2, 3].map(
  (decimals) => new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);

function grouped(value: number, decimals: number): string {
  return (FORMATS[decimals] ?? new Intl.NumberFormat('en-US')).format(value);
}

interface Scale {
  readonly from: number;
  readonly unit: string;
}

// A size counts as the next unit where it would round to 1,000 of the smaller one.
function scaled(value: number, scales: readonly Scale[], smallest: string): string {
  const size = Math.abs(value);
  const scale = scales.find(({ from }) => size >= from * 0.99995);
  if (scale === undefined) return `${grouped(value, Number.isInteger(value) ? 0 : 1)}${GAP}${smallest}`;
  return `${fourDigits(value / scale.from)}${GAP}${scale.unit}`;
}

const TIMES: readonly Scale[] = [
  { from: 1e9, unit: 's' },
  { from: 1e6, unit: 'ms' },
  { from: 1e3, unit: 'µs' },
];

/** Nanoseconds in the unit that fits: "820 ns", "12.34 µs", "1.500 ms", "2.000 s". */
export function ns(value: Maybe): string {
  return known(value) ? scaled(value, TIMES, 'ns') : UNKNOWN;
}

/** Nanoseconds to the last one: "1,234,567 ns". */
export function nsExact(value: Maybe): string {
  return known(value) ? `${grouped(value, 0)}${GAP}ns` : UNKNOWN;
}

/** "1,234" */
export function count(value: Maybe): string {
  return known(value) ? grouped(value, 0) : UNKNOWN;
}

/** "1 kernel", "1,234 kernels" */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)}${GAP}${value === 1 ? one : many}`;
}

const SIZES: readonly Scale[] = [
  { from: 2 ** 30, unit: 'GiB' },
  { from: 2 ** 20, unit: 'MiB' },
  { from: 2 ** 10, unit: 'KiB' },
];

/** "512 B", "1.500 MiB" */
export function bytes(value: Maybe): string {
  return known(value) ? scaled(value, SIZES, 'B') : UNKNOWN;
}

/** Part of a whole as "12.3 %"; what is there but rounds to nothing is "< 0.1 %". */
export function share(part: Maybe, whole: Maybe): string {
  if (!known(part) || !known(whole) || whole === 0) return UNKNOWN;
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return `<${GAP}0.1${GAP}%`;
  if (percent < 100 && percent > 99.95) return `99.9${GAP}%`;
  return `${grouped(percent, 1)}${GAP}%`;
}

/** Per second: "123.4 tok/s" with the unit given. */
export function rate(value: Maybe, unit: string): string {
  return known(value) ? `${fourDigits(value)}${GAP}${unit}` : UNKNOWN;
}

/** The unit that fits all ticks of a time axis, and how to write a tick in it. */
export function timeAxis(longest: number): { readonly unit: string; readonly tick: (value: number) => string } {
  const scale = TIMES.find(({ from }) => longest >= from) ?? { from: 1, unit: 'ns' };
  return {
    unit: scale.unit,
    tick: (value) => (value / scale.from).toLocaleString('en-US', { maximumFractionDigits: 3 }),
  };
}
