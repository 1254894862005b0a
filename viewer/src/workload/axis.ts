/** Axes: a unit for the whole axis, round ticks in it. */
import { scaleLinear, scaleLog } from 'd3-scale';

export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Axis {
  readonly scale: (value: number) => number;
  readonly invert: (pixel: number) => number;
  readonly ticks: readonly Tick[];
  /** What stands beside the label, or '' for plain numbers. */
  readonly unit: string;
  readonly log: boolean;
}

const TIME_UNITS = [
  { unit: 's', ns: 1e9 },
  { unit: 'ms', ns: 1e6 },
  { unit: 'µs', ns: 1e3 },
  { unit: 'ns', ns: 1 },
] as const;

/** The unit in which the largest value of an axis reads well. */
export function timeUnit(max_ns: number): { readonly unit: string; readonly ns: number } {
  return TIME_UNITS.find(({ ns }) => max_ns >= ns) ?? { unit: 'ns', ns: 1 };
}

function plain(value: number): string {
  // Ticks are round, what lies beyond twelve digits is the error of the division.
  return Number(value.toPrecision(12)).toLocaleString('en-US', { maximumFractionDigits: 9 });
}

/**
 * An axis over [low, high] on pixels [from, to]. `log` holds only for positive values; without any it
 * falls back to a linear axis.
 */
export function makeAxis(
  domain: readonly [number, number],
  pixels: readonly [number, number],
  options: { readonly kind: 'ns' | 'tokens' | 'count'; readonly log?: boolean; readonly ticks?: number },
): Axis {
  const [low, high] = domain;
  const wide = high > low ? high : low + 1;
  const unit = options.kind === 'ns' ? timeUnit(Math.max(Math.abs(low), Math.abs(wide))) : { unit: '', ns: 1 };
  const log = options.log === true && low > 0;
  const scaled: [number, number] = [low / unit.ns, wide / unit.ns];
  const count = options.ticks ?? 5;
  const scale = log ? scaleLog().domain(scaled).range(pixels) : scaleLinear().domain(scaled).range(pixels);
  const whole = options.kind !== 'ns';
  const ticks = scale.ticks(count).filter((tick) => !whole || Number.isInteger(tick));
  const kept = log && ticks.length > count * 2 ? ticks.filter((tick) => /^[125]/.test(tick.toExponential())) : ticks;
  return {
    scale: (value) => scale(value / unit.ns),
    invert: (pixel) => scale.invert(pixel) * unit.ns,
    ticks: kept.map((tick) => ({ value: tick * unit.ns, text: plain(tick) })),
    unit: unit.unit,
    log,
  };
}

/** Smallest and largest finite value among those that `keep` marks; null when there is none. */
export function extent(values: ArrayLike<number>, keep?: Uint8Array): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] ?? Number.NaN;
    if (!Number.isFinite(value) || (keep !== undefined && keep[i] !== 1)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/**
 * The domain of a plot, with room at the ends. Times begin at zero; lengths too, unless they lie so close
 * together (fixed lengths) that all points would stand at the right edge.
 */
export function plotDomain(found: [number, number] | null, log: boolean, kind: 'ns' | 'tokens'): [number, number] {
  if (found === null) return log ? [1, 10] : [0, 1];
  const [low, high] = found;
  if (log && low > 0) return low === high ? [low / 2, high * 2] : [low / 1.15, high * 1.15];
  if (kind === 'tokens' && low > high / 2) {
    const room = Math.max(2, (high - low) * 0.08);
    return [Math.max(0, low - room), high + room];
  }
  return [Math.min(0, low), high <= 0 ? 1 : high * 1.06];
}
