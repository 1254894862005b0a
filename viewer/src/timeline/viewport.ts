/** A stretch of time, nanoseconds relative to the trace's zero. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** No window is shorter: activities are given in whole nanoseconds. */
export const SHORTEST_NS = 200;

export function lengthOf(span: Span): number {
  return span.to - span.from;
}

/** The nearest span inside the bounds, of the same length where it fits. */
export function clampTo(span: Span, bounds: Span): Span {
  const length = Math.min(Math.max(lengthOf(span), Math.min(SHORTEST_NS, lengthOf(bounds))), lengthOf(bounds));
  const from = Math.min(Math.max(span.from, bounds.from), bounds.to - length);
  return { from: Math.round(from), to: Math.round(from + length) };
}

/** Longer (factor > 1) or shorter around a time that stays where it is on the screen. */
export function zoomAt(span: Span, factor: number, at: number, bounds: Span): Span {
  const length = Math.min(Math.max(lengthOf(span) * factor, SHORTEST_NS), lengthOf(bounds));
  const share = lengthOf(span) > 0 ? (at - span.from) / lengthOf(span) : 0.5;
  const from = at - length * share;
  return clampTo({ from, to: from + length }, bounds);
}

export function panBy(span: Span, ns: number, bounds: Span): Span {
  return clampTo({ from: span.from + ns, to: span.to + ns }, bounds);
}

/** A span with room around it, so that what is selected is seen among its neighbours. */
export function around(span: Span, room: number, bounds: Span): Span {
  const margin = lengthOf(span) * room;
  return clampTo({ from: span.from - margin, to: span.to + margin }, bounds);
}

/** Moves no more than needed to show a stretch; zooms out when it is longer than the window. */
export function reveal(view: Span, span: Span, bounds: Span): Span {
  if (span.from >= view.from && span.to <= view.to) return view;
  if (lengthOf(span) > lengthOf(view)) return around(span, 0.1, bounds);
  const middle = (span.from + span.to) / 2;
  const half = lengthOf(view) / 2;
  return clampTo({ from: middle - half, to: middle + half }, bounds);
}

const UNITS: readonly (readonly [unit: string, ns: number])[] = [
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3],
];

export interface Axis {
  readonly ticks: readonly number[];
  /** A tick in the unit that fits the axis, with as many decimals as tell ticks apart. */
  readonly text: (tick: number) => string;
}

/** Times of an axis: 1, 2 or 5 times a power of ten apart, at most `most` of them. */
export function axisOf(span: Span, most: number): Axis {
  const rough = Math.max(lengthOf(span) / Math.max(1, most), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((value) => value >= rough) ?? power * 10;
  const ticks: number[] = [];
  for (let at = Math.ceil(span.from / step) * step; at <= span.to; at += step) ticks.push(at);
  const [unit, unitNs] = UNITS.find(([, ns]) => Math.abs(span.to) >= ns) ?? ['ns', 1];
  const decimals = Math.max(0, Math.ceil(Math.log10(unitNs / step)));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return { ticks, text: (tick) => `${(tick / unitNs).toLocaleString('en-US', digits)}\u00a0${unit}` };
}
