import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { ns, rate } from '../ui/format';
import { NameText } from '../ui/name_text';
import { seriesColor } from '../ui/palette';
import { tipProps } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { visibleText } from '../ui/visible_text';
import { Axes, type Margin } from './axes';
import { makeAxis, plotDomain } from './axis';
import { finite, isRecord, type WorkloadRun } from './model';
import { quantityLabel } from './percentiles';

export interface RunPoint {
  readonly run: WorkloadRun;
  /** Output tokens a second. */
  readonly x: number;
  readonly y_ns: number;
}

/** Median of a quantity over throughput, in order of throughput; runs without either are left out. */
export function runPoints(runs: readonly WorkloadRun[], quantity: string): RunPoint[] {
  return runs
    .flatMap((run): RunPoint[] => {
      const x = finite(run.summary.output_token_throughput_per_s);
      const of = run.summary[quantity];
      const y_ns = isRecord(of) ? finite(of.p50_ns) : null;
      return x === null || y_ns === null ? [] : [{ run, x, y_ns }];
    })
    .sort((a, b) => a.x - b.x || a.run.index - b.run.index);
}

/** What runs of one series share: their label without what has a number alone ("dataset_name random", of each rate). */
export function seriesName(run: WorkloadRun): string {
  const parts = (run.label ?? '').split(', ').filter((part) => !/^\S+ -?[\d.]+(e[+-]?\d+)?$/i.test(part));
  return parts.join(', ');
}

const MARGIN: Margin = { top: 10, right: 16, bottom: 40, left: 58 };
const HEIGHT_PX = 220;
const LEAST_PX = 200;

interface CurveProps {
  readonly points: readonly RunPoint[];
  readonly quantity: string;
  readonly chosen: number | null;
  /** Names of series; each is a line. */
  readonly series: readonly string[];
  readonly log: boolean;
}

/** From zero; on a log axis from the smallest value, so that small ones are told apart. */
function domainOf(points: readonly RunPoint[], of: (point: RunPoint) => number, log: boolean): [number, number] {
  const values = points.map(of).filter((value) => !log || value > 0);
  return [log ? values.reduce((a, b) => Math.min(a, b), Infinity) : 0, values.reduce((a, b) => Math.max(a, b), 0)];
}

function Curve({ points: all, quantity, chosen, series, log }: CurveProps): JSX.Element {
  const { ref, width: measured } = useSize<HTMLDivElement>();
  const width = Math.max(LEAST_PX, measured);
  const label = `${quantityLabel(quantity)} p50`;
  const points = log ? all.filter((point) => point.y_ns > 0) : all;
  const x = makeAxis(plotDomain(domainOf(points, (point) => point.x, false), false, 'tokens'), [MARGIN.left, width - MARGIN.right], {
    kind: 'count',
    ticks: Math.max(2, Math.floor(width / 100)),
  });
  const y = makeAxis(plotDomain(domainOf(points, (point) => point.y_ns, log), log, 'ns'), [HEIGHT_PX - MARGIN.bottom, MARGIN.top], {
    kind: 'ns',
    log,
    ticks: 4,
  });
  const lineOf = (name: string): string =>
    points
      .filter(({ run }) => seriesName(run) === name)
      .map((point) => `${x.scale(point.x).toFixed(1)},${y.scale(point.y_ns).toFixed(1)}`)
      .join(' ');
  return (
    <div ref={ref} class="wl-curve">
      <svg width={width} height={HEIGHT_PX} role="group" aria-label={`${label} over output rate, a point a run`}>
        <Axes width={width} height={HEIGHT_PX} margin={MARGIN} x={x} y={y} xLabel="Output rate (tok/s)" yLabel={label} />
        {series.map((name, i) => (
          <polyline key={name} class="wl-curve-line" points={lineOf(name)} style={{ stroke: seriesColor(i) }} />
        ))}
        {points.map(({ run, x: tokens, y_ns }) => {
          const rows = [[label, ns(y_ns)], ['Output rate', rate(tokens, 'tok/s')]] as const;
          const title = `Run #${run.index} ${visibleText(run.label ?? '')}`;
          return (
            <circle
              key={run.index}
              class={run.index === chosen ? 'wl-run wl-run-chosen' : 'wl-run'}
              cx={x.scale(tokens)}
              cy={y.scale(y_ns)}
              r={run.index === chosen ? 6 : 4.5}
              style={{ fill: seriesColor(series.indexOf(seriesName(run))) }}
              tabIndex={0}
              role="img"
              aria-label={[title, ...rows.map((row) => row.join(' '))].join(', ')}
              {...tipProps(() => ({ title, rows }))}
            />
          );
        })}
      </svg>
    </div>
  );
}

const QUANTITIES_SHOWN = ['ttft', 'tpot', 'itl', 'e2e'] as const;

/** What more throughput costs: latency over output rate, of each quantity that two runs or more have. */
export function RunsChart({ runs, chosen, log }: { readonly runs: readonly WorkloadRun[]; readonly chosen: number | null; readonly log: boolean }): JSX.Element | null {
  const curves = useMemo(
    () =>
      QUANTITIES_SHOWN.map((quantity) => ({ quantity, points: runPoints(runs, quantity) })).filter(
        ({ points }) => points.length > 1,
      ),
    [runs],
  );
  const series = useMemo(() => [...new Set(runs.map(seriesName))], [runs]);
  if (curves.length === 0) return null;
  return (
    <div class="wl-runs">
      {series.length > 1 && (
        <ul class="wl-legend" aria-label="Series of runs">
          {series.map((name, i) => (
            <li key={name}>
              <span class="wl-swatch" style={{ background: seriesColor(i) }} />
              <NameText text={name === '' ? 'other runs' : name} limit={80} />
            </li>
          ))}
        </ul>
      )}
      <div class="wl-curves">
        {curves.map(({ quantity, points }) => (
          <Curve key={quantity} quantity={quantity} points={points} chosen={chosen} series={series} log={log} />
        ))}
      </div>
    </div>
  );
}
