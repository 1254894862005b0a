import type { JSX } from 'preact';
import type { Axis } from './axis';

/** Pixels around a plot's field. */
export interface Margin {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

export interface AxesProps {
  readonly width: number;
  readonly height: number;
  readonly margin: Margin;
  readonly x: Axis;
  readonly y: Axis;
  readonly xLabel: string;
  readonly yLabel: string;
}

function withUnit(label: string, axis: Axis): string {
  const notes = [axis.unit, axis.log ? 'log' : ''].filter((note) => note !== '').join(', ');
  return notes === '' ? label : `${label} (${notes})`;
}

/** Grid, ticks and labels of a plot, to be laid under or over its marks. */
export function Axes({ width, height, margin, x, y, xLabel, yLabel }: AxesProps): JSX.Element {
  const bottom = height - margin.bottom;
  const right = width - margin.right;
  return (
    <g class="axis" aria-hidden="true">
      {y.ticks.map((tick) => {
        const at = Math.round(y.scale(tick.value)) + 0.5;
        return (
          <g key={tick.value}>
            <line class="grid" x1={margin.left} x2={right} y1={at} y2={at} />
            <text x={margin.left - 8} y={at} dy="0.32em" text-anchor="end">
              {tick.text}
            </text>
          </g>
        );
      })}
      {x.ticks.map((tick) => {
        const at = Math.round(x.scale(tick.value)) + 0.5;
        return (
          <g key={tick.value}>
            <line class="grid" x1={at} x2={at} y1={margin.top} y2={bottom} />
            <text x={at} y={bottom + 16} text-anchor="middle">
              {tick.text}
            </text>
          </g>
        );
      })}
      <line class="axis-line" x1={margin.left} x2={right} y1={bottom + 0.5} y2={bottom + 0.5} />
      {xLabel !== '' && (
        <text class="axis-label" x={(margin.left + right) / 2} y={height - 6} text-anchor="middle">
          {withUnit(xLabel, x)}
        </text>
      )}
      {yLabel !== '' && (
        <text
          class="axis-label"
          text-anchor="middle"
          transform={`translate(13,${(margin.top + bottom) / 2}) rotate(-90)`}
        >
          {withUnit(yLabel, y)}
        </text>
      )}
    </g>
  );
}
