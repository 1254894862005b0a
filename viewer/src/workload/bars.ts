/** The bars of the request chart as plain arrays, and how ten thousand of them are drawn at once. */
import { phasesOf, type Phase } from './gantt';
import type { WorkloadRequest } from './model';
import type { Palette } from './palette';

/** Stretches of all requests, each with its request's position. */
export interface Bars {
  readonly phase: readonly Phase[];
  readonly position: Int32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Stretches of request p are those from first[p] to before first[p + 1]. */
  readonly first: Int32Array;
}

export function makeBars(requests: readonly WorkloadRequest[]): Bars {
  const phase: Phase[] = [];
  const position: number[] = [];
  const start: number[] = [];
  const end: number[] = [];
  const first = new Int32Array(requests.length + 1);
  requests.forEach((request, at) => {
    first[at] = phase.length;
    for (const stretch of phasesOf(request)) {
      phase.push(stretch.phase);
      position.push(at);
      start.push(stretch.start_ns);
      end.push(stretch.end_ns);
    }
  });
  first[requests.length] = phase.length;
  return {
    phase,
    position: Int32Array.from(position),
    start: Float64Array.from(start),
    end: Float64Array.from(end),
    first,
  };
}

export interface BarView {
  readonly order: readonly number[];
  /** Rows to draw: [first, behind the last). */
  readonly rows: readonly [number, number];
  readonly row_px: number;
  /** Pixels scrolled off at the top. */
  readonly top: number;
  /** Pixels of the field from left to right. */
  readonly field: readonly [number, number];
  readonly x: (t_ns: number) => number;
  /** 1 = to be drawn; null: all. */
  readonly only: Uint8Array | null;
  readonly failed: Uint8Array;
  readonly palette: Palette;
}

const PHASES: readonly Phase[] = ['queue', 'whole', 'prefill', 'decode'];

/** One phase of all visible rows: one colour, one pass. */
function drawPhase(context: CanvasRenderingContext2D, bars: Bars, view: BarView, phase: Phase): void {
  const { order, rows, row_px, top, field, x, only } = view;
  const gap = row_px >= 6 ? Math.min(4, row_px * 0.22) : 0;
  // Where many rows share a pixel each covers a part of it, so that few selected ones do not hide the rest.
  const thick = row_px < 0.5 ? Math.max(0.12, row_px) : Math.max(0.8, row_px - gap);
  const inset = phase === 'queue' && row_px >= 6 ? thick * 0.3 : 0;
  context.fillStyle = view.palette.phases[phase];
  context.globalAlpha = 1;
  for (let row = rows[0]; row < rows[1]; row += 1) {
    const position = order[row] ?? 0;
    if (only !== null && only[position] !== 1) continue;
    const last = bars.first[position + 1] ?? 0;
    for (let i = bars.first[position] ?? 0; i < last; i += 1) {
      if (bars.phase[i] !== phase) continue;
      const left = Math.max(field[0], x(bars.start[i] ?? 0));
      const right = Math.min(field[1], x(bars.end[i] ?? 0));
      if (right < field[0] || left > field[1]) continue;
      context.fillRect(left, row * row_px - top + gap / 2 + inset, Math.max(0.75, right - left), thick - 2 * inset);
    }
  }
}

/** A cross where a failed request started; in rows too thin for one, a short stroke. */
function drawFailures(
  context: CanvasRenderingContext2D,
  view: BarView,
  startOf: (position: number) => number,
): void {
  const { order, rows, row_px, top, field, x, only } = view;
  context.strokeStyle = view.palette.points.failed;
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.beginPath();
  for (let row = rows[0]; row < rows[1]; row += 1) {
    const position = order[row] ?? 0;
    if (view.failed[position] !== 1 || (only !== null && only[position] !== 1)) continue;
    const at = x(startOf(position));
    if (at < field[0] || at > field[1]) continue;
    const middle = (row + 0.5) * row_px - top;
    const r = Math.max(2, Math.min(4, row_px / 2 - 2));
    context.moveTo(at - r, middle - r);
    context.lineTo(at + r, middle + r);
    context.moveTo(at + r, middle - r);
    context.lineTo(at - r, middle + r);
  }
  context.stroke();
}

export function drawBars(
  context: CanvasRenderingContext2D,
  bars: Bars,
  view: BarView,
  startOf: (position: number) => number,
): void {
  for (const phase of PHASES) drawPhase(context, bars, view, phase);
  drawFailures(context, view, startOf);
  context.globalAlpha = 1;
}

/**
 * The request under a point of the chart: the one of that row; where rows are thinner than a pixel, of those near it
 * the first that was in flight at that time.
 */
export function hitRow(
  order: readonly number[],
  row_px: number,
  y: number,
  covers: (position: number) => boolean,
): number | null {
  const row = Math.floor(y / row_px);
  if (row < 0 || row >= order.length) return null;
  if (row_px >= 3) return order[row] ?? null;
  const near = Math.ceil(2 / row_px);
  for (let step = 0; step <= near; step += 1) {
    for (const candidate of [row + step, row - step]) {
      const position = order[candidate];
      if (position !== undefined && covers(position)) return position;
    }
  }
  return order[row] ?? null;
}
