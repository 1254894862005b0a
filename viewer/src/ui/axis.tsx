import type { JSX } from 'preact';

export interface AxisScale {
  (value: number): number;
  ticks(count?: number): number[];
  range(): number[];
}

interface AxisProps {
  readonly scale: AxisScale;
  /** Where the axis stands on the other axis, in pixels. */
  readonly at: number;
  readonly format: (value: number) => string;
  /** With its unit: "TTFT (ms)". */
  readonly label?: string;
  readonly ticks?: number;
  /** Length of the grid lines; 0: none. */
  readonly grid?: number;
}

/** Axis below a plot; grid lines run up. */
export function AxisBottom({ scale, at, format, label, ticks = 6, grid = 0 }: AxisProps): JSX.Element {
  const [from = 0, to = 0] = scale.range();
  return (
    <g class="axis" transform={`translate(0,${at})`} aria-hidden="true">
      <line class="axis-line" x1={from} x2={to} />
      {scale.ticks(ticks).map((tick) => (
        <g key={tick} transform={`translate(${scale(tick)},0)`}>
          {grid > 0 && <line class="grid" y2={-grid} />}
          <line class="axis-line" y2={4} />
          <text y={16} text-anchor="middle">
            {format(tick)}
          </text>
        </g>
      ))}
      {label !== undefined && (
        <text class="axis-label" x={(from + to) / 2} y={32} text-anchor="middle">
          {label}
        </text>
      )}
    </g>
  );
}

/** Axis left of a plot; grid lines run right. */
export function AxisLeft({ scale, at, format, label, ticks = 5, grid = 0 }: AxisProps): JSX.Element {
  const [from = 0, to = 0] = scale.range();
  return (
    <g class="axis" transform={`translate(${at},0)`} aria-hidden="true">
      {scale.ticks(ticks).map((tick) => (
        <g key={tick} transform={`translate(0,${scale(tick)})`}>
          {grid > 0 && <line class="grid" x2={grid} />}
          <text x={-7} dy="0.32em" text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {label !== undefined && (
        <text class="axis-label" transform={`translate(${-at + 12},${(from + to) / 2}) rotate(-90)`} text-anchor="middle">
          {label}
        </text>
      )}
    </g>
  );
}
