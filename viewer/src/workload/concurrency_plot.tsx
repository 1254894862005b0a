import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Axes, type Margin } from './axes';
import { makeAxis, type Axis } from './axis';
import { concurrencyAt, peakConcurrency, thin } from './concurrency';
import type { ConcurrencyPoint } from './model';
import { covered } from './plotting';
import type { Range } from './selection';
import { useDrag } from './use_drag';

export interface ConcurrencyPlotProps {
  readonly points: readonly ConcurrencyPoint[];
  readonly width: number;
  readonly height: number;
  readonly margin: Margin;
  readonly x: Axis;
  readonly window: readonly [number, number];
  readonly range: Range | undefined;
  /** The time under the pointer or null, shared with the chart below. */
  readonly cursor_ns: number | null;
  readonly onCursor: (t_ns: number | null) => void;
  readonly onBrush: (from_px: number, to_px: number) => void;
  readonly onBrushed: () => void;
}

function stepPath(points: readonly ConcurrencyPoint[], x: Axis, y: Axis, ends: readonly [number, number]): string {
  const before = points[0];
  if (before === undefined) return '';
  const hold = (pixel: number): number => Math.max(ends[0], Math.min(ends[1], pixel));
  let path = `M${hold(x.scale(before.t_ns))},${y.scale(0)}`;
  for (const point of points) path += `H${hold(x.scale(point.t_ns)).toFixed(1)}V${y.scale(point.n).toFixed(1)}`;
  return `${path}H${ends[1]}V${y.scale(0)}Z`;
}

/** Requests in flight over time, as steps. Steps outside the window shape its left edge and are cut at its right. */
export function ConcurrencyPlot(props: ConcurrencyPlotProps): JSX.Element {
  const { points, width, height, margin, x, range, cursor_ns } = props;
  const ends: [number, number] = [margin.left, width - margin.right];
  const y = useMemo(
    () =>
      makeAxis([0, Math.max(1, peakConcurrency(points) ?? 1) * 1.1], [height - margin.bottom, margin.top], {
        kind: 'count',
        ticks: 3,
      }),
    [points, height],
  );
  const path = useMemo(() => stepPath(thin(points, x.scale), x, y, ends), [points, x, y, width]);
  const { handlers } = useDrag({
    drag: (from, to) => {
      props.onBrush(from.x, to.x);
    },
    drop: props.onBrushed,
    click: () => undefined,
    hover: (at) => {
      props.onCursor(at === null || at.x < ends[0] || at.x > ends[1] ? null : x.invert(at.x));
    },
  });
  const brush = range === undefined ? null : covered(x, range, ends);
  const cursor = cursor_ns === null ? null : Math.round(x.scale(cursor_ns)) + 0.5;
  return (
    <div class="wl-plot wl-concurrency" data-plot="Concurrency" style={{ height }} {...handlers}>
      <svg width={width} height={height} role="img" aria-label={`Requests in flight over time, at most ${peakConcurrency(points) ?? 0}`}>
        <Axes width={width} height={height} margin={margin} x={{ ...x, ticks: [] }} y={y} xLabel="" yLabel="In flight" />
        <path class="wl-area-shape" d={path} />
        {brush !== null && (
          <rect class="wl-brush" x={brush[0]} y={margin.top} width={Math.max(1, brush[1] - brush[0])} height={height - margin.top - margin.bottom} />
        )}
        {cursor !== null && (
          <g>
            <line class="wl-cursor" x1={cursor} x2={cursor} y1={margin.top} y2={height - margin.bottom} />
            <text
              class="wl-cursor-label"
              x={cursor + (cursor > width - 60 ? -6 : 6)}
              y={margin.top + 11}
              text-anchor={cursor > width - 60 ? 'end' : 'start'}
            >
              {concurrencyAt(points, cursor_ns ?? 0)}
            </text>
          </g>
        )}
      </svg>
    </div>
  );
}
