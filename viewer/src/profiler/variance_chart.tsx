import { max } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LayerVariance } from '../data/analyses';
import { AxisLeft } from '../ui/axis';
import { ns, timeAxis } from '../ui/format';
import { seriesColor } from '../ui/palette';
import { type TipContent, hideTip, showTip, tipProps } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { visibleText } from '../ui/visible_text';

const HEIGHT = 240;
const LEFT = 64;
const BOTTOM = 34;
const TOP = 10;

interface ChartProps {
  readonly rows: readonly LayerVariance[];
  readonly selected: number | null;
  readonly onSelect: (layer: number) => void;
}

export function varianceTip(row: LayerVariance): TipContent {
  return {
    title: `Layer ${row.layer} · ${visibleText(row.type)}${row.outlier ? ' · outlier' : ''}`,
    rows: [
      ['mean', ns(row.mean_ns)],
      ['median', ns(row.median_ns)],
      ['min', ns(row.min_ns)],
      ['max', ns(row.max_ns)],
      ['standard deviation', ns(row.stddev_ns)],
      ['passes', String(row.by_pass.filter((value) => value !== null).length)],
    ],
  };
}

interface MarkProps {
  readonly row: LayerVariance;
  readonly x: number;
  readonly width: number;
  readonly y: (value: number) => number;
  readonly color: string;
  readonly selected: boolean;
  readonly focusable: boolean;
  readonly onSelect: () => void;
  readonly onFocus: () => void;
}

/** Whisker from min to max, box of one standard deviation, line at the median, dot (outlier: diamond) at the mean. */
function VarianceMark({ row, x, width, y, color, selected, focusable, onSelect, onFocus }: MarkProps): JSX.Element {
  const box = Math.max(2, Math.min(14, width * 0.6));
  const above = y(Math.min(row.max_ns, row.mean_ns + row.stddev_ns));
  const below = y(Math.max(row.min_ns, row.mean_ns - row.stddev_ns));
  const tip = tipProps(() => varianceTip(row));
  return (
    <g
      role="option"
      aria-selected={selected}
      aria-label={`Layer ${row.layer}${row.outlier ? ', outlier' : ''}: mean ${ns(row.mean_ns)}, from ${ns(row.min_ns)} to ${ns(row.max_ns)}`}
      tabIndex={focusable ? 0 : -1}
      data-layer={row.layer}
      class="variance-mark"
      transform={`translate(${x},0)`}
      onClick={onSelect}
      {...tip}
      onFocus={(event) => {
        onFocus();
        if (event.currentTarget.matches(':focus-visible')) showTip(event.currentTarget.getBoundingClientRect(), varianceTip(row));
      }}
      onBlur={hideTip}
    >
      <rect class="hit-area" x={-width / 2} y={TOP} width={width} height={HEIGHT - TOP - BOTTOM} />
      {selected && <rect class="variance-selected" x={-width / 2} y={TOP} width={width} height={HEIGHT - TOP - BOTTOM} />}
      <line x1={0} x2={0} y1={y(row.min_ns)} y2={y(row.max_ns)} stroke={color} opacity={0.7} />
      <rect x={-box / 2} y={above} width={box} height={Math.max(1, below - above)} fill={color} opacity={0.28} />
      <line x1={-box / 2} x2={box / 2} y1={y(row.median_ns)} y2={y(row.median_ns)} stroke={color} stroke-width={2} />
      {row.outlier ? (
        <path class="outlier" d={`M0,${y(row.mean_ns) - 5}l5,5l-5,5l-5,-5z`} />
      ) : (
        <circle r={2.6} cy={y(row.mean_ns)} fill={color} />
      )}
    </g>
  );
}

function keyTo(key: string, at: number, n: number): number | null {
  const to: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: n - 1 };
  const next = to[key];
  return next === undefined ? null : Math.max(0, Math.min(n - 1, next));
}

/** Wall time of each layer over all passes of one phase: how far it varies, and which layer stands out. */
export function VarianceChart({ rows, selected, onSelect }: ChartProps): JSX.Element {
  const { ref, width } = useSize<HTMLDivElement>();
  const [at, setAt] = useState(0);
  const types = [...new Set(rows.map((row) => row.type))];
  const top = max(rows, (row) => row.max_ns) ?? 1;
  const axis = timeAxis(top);
  const y = scaleLinear([0, top * 1.04], [HEIGHT - BOTTOM, TOP]);
  const step = Math.max(2, (Math.max(width, LEFT + 40) - LEFT - 6) / Math.max(1, rows.length));
  const every = [1, 2, 4, 5, 8, 10, 20, 50].find((n) => n * step >= 24) ?? 100;
  return (
    <div ref={ref} class="variance">
      <svg
        width={width}
        height={HEIGHT}
        role="listbox"
        aria-label={`Wall time of ${rows.length} layers: mean, median, deviation, smallest and largest`}
        onKeyDown={(event) => {
          const next = keyTo(event.key, at, rows.length);
          if (next !== null) {
            event.preventDefault();
            setAt(next);
            event.currentTarget.querySelectorAll<SVGGElement>('[role="option"]')[next]?.focus();
          } else if (event.key === 'Enter' || event.key === ' ') {
            event.preventDefault();
            const row = rows[at];
            if (row !== undefined) onSelect(row.layer);
          }
        }}
      >
        <AxisLeft scale={y} at={LEFT} format={axis.tick} label={`wall (${axis.unit})`} grid={Math.max(0, width - LEFT - 6)} />
        {rows.map((row, i) => (
          <VarianceMark
            key={row.layer}
            row={row}
            x={LEFT + (i + 0.5) * step}
            width={step}
            y={y}
            color={seriesColor(types.indexOf(row.type))}
            selected={row.layer === selected}
            focusable={i === at}
            onSelect={() => {
              setAt(i);
              onSelect(row.layer);
            }}
            onFocus={() => {
              if (at !== i) setAt(i);
            }}
          />
        ))}
        <g aria-hidden="true">
          {rows.map((row, i) =>
            i % every === 0 ? (
              <text key={row.layer} x={LEFT + (i + 0.5) * step} y={HEIGHT - BOTTOM + 15} text-anchor="middle">
                {row.layer}
              </text>
            ) : null,
          )}
          <text class="axis-label" x={(LEFT + width) / 2} y={HEIGHT - 4} text-anchor="middle">
            layer
          </text>
        </g>
      </svg>
      <div class="legend">
        {types.map((type, i) => (
          <span key={type}>
            <span class="swatch" style={{ background: seriesColor(i) }} />
            type {visibleText(type)}
          </span>
        ))}
        <span class="muted">dot mean · line median · box ± one standard deviation · whisker min to max</span>
        {rows.some((row) => row.outlier) && <span class="outlier-word">◆ outlier</span>}
      </div>
    </div>
  );
}
