import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { EmptyState } from '../ui/states';
import { useSize } from '../ui/use_size';
import type { Margin } from './axes';
import { ConcurrencyPlot } from './concurrency_plot';
import { GanttPlot } from './gantt_plot';
import { makeAxis } from './axis';
import { makeBars } from './bars';
import { ganttExtent, ganttOrder, phasesOf } from './gantt';
import { ClassMark } from './legend';
import type { ConcurrencyPoint, WorkloadRequest } from './model';
import type { Palette } from './palette';
import { brushed } from './plotting';
import type { Range } from './selection';
import type { TipRows } from './use_mark_tip';
import { panned, zoomed, type Window } from './zoom';

export interface TimeChartProps {
  readonly requests: readonly WorkloadRequest[];
  readonly concurrency: readonly ConcurrencyPoint[];
  readonly shown: Uint8Array;
  readonly selected: Uint8Array | null;
  readonly failed: Uint8Array;
  readonly chosen: number | null;
  readonly range: Range | undefined;
  readonly palette: Palette;
  readonly title: (position: number) => string;
  readonly describe: (position: number) => TipRows;
  readonly onBrush: (range: Range) => void;
  readonly onBrushed: () => void;
  readonly onChoose: (position: number | null) => void;
}

const MARGIN: Margin = { top: 6, right: 14, bottom: 6, left: 58 };
const CONCURRENCY_PX = 92;
const AXIS_PX = 40;
const READABLE_ROW_PX = 16;
const THICKEST_ROW_PX = 26;
const HEIGHT_PX = 340;
/** Never drawn narrower: on a tab that is not shown there is no width. */
const LEAST_PX = 200;

/** Requests in flight and the request chart on one axis of time. */
export function TimeChart(props: TimeChartProps): JSX.Element {
  const { requests, shown } = props;
  const order = useMemo(() => ganttOrder(requests, shown), [requests, shown]);
  if (order.length > 0) return <Chart {...props} order={order} />;
  return (
    <EmptyState title={shown.includes(1) ? 'No start times' : 'No request passes the filter'}>
      {shown.includes(1)
        ? 'The benchmark did not record when requests started, so they cannot be laid out in time. vLLM does with --save-detailed.'
        : 'Clear the range of input tokens above.'}
    </EmptyState>
  );
}

function Chart(props: TimeChartProps & { readonly order: readonly number[] }): JSX.Element {
  const { requests, concurrency, order, range } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { ref, width: measured } = useSize<HTMLDivElement>();
  const width = Math.max(LEAST_PX, measured);
  const [fit, setFit] = useState(true);
  const [zoom, setZoom] = useState<Window | null>(null);
  const [cursor_ns, setCursor] = useState<number | null>(null);
  const bars = useMemo(() => makeBars(requests), [requests]);
  const whole = useMemo((): Window => ganttExtent(requests) ?? [0, 1], [requests]);
  const window = zoom ?? whole;
  const x = useMemo(
    () =>
      makeAxis(window, [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)], {
        kind: 'ns',
        ticks: Math.max(2, Math.floor(width / 110)),
      }),
    [window[0], window[1], width],
  );
  const fitted_px = HEIGHT_PX / Math.max(1, order.length);
  const row_px = fit || fitted_px >= READABLE_ROW_PX ? Math.min(THICKEST_ROW_PX, fitted_px) : READABLE_ROW_PX;
  const onBrush = (from_px: number, to_px: number): void => {
    props.onBrush(brushed(x, from_px, to_px));
  };
  const onZoom = (factor: number, around_px: number): void => {
    setZoom(zoomed(window, whole, factor, x.invert(around_px)));
  };
  const time = { x, range, cursor_ns, onCursor: setCursor, onBrush, onBrushed: props.onBrushed, margin: MARGIN, width } as const;
  return (
    <div class="wl-time">
      <div class="wl-tools">
        <PhaseLegend requests={requests} />
        <span class="wl-grow" />
        {fitted_px < READABLE_ROW_PX && (
          <label class="wl-check">
            <input
              type="checkbox"
              checked={fit}
              onChange={(event) => {
                setFit(event.currentTarget.checked);
              }}
            />
            All rows at once
          </label>
        )}
        <button
          type="button"
          class="button small"
          disabled={range === undefined}
          onClick={() => {
            if (range !== undefined) setZoom([range.low, Math.max(range.high, range.low + 1)]);
          }}
        >
          Zoom to selection
        </button>
        <button
          type="button"
          class="button small"
          disabled={zoom === null}
          onClick={() => {
            setZoom(null);
          }}
        >
          Whole run
        </button>
      </div>
      {concurrency.length > 0 && (
        <ConcurrencyPlot {...time} points={concurrency} height={CONCURRENCY_PX} window={window} />
      )}
      <GanttPlot
        {...time}
        scroller={scroller}
        content={ref}
        requests={requests}
        bars={bars}
        order={order}
        height={HEIGHT_PX}
        row_px={row_px}
        selected={props.selected}
        failed={props.failed}
        chosen={props.chosen}
        palette={props.palette}
        title={props.title}
        describe={props.describe}
        onChoose={props.onChoose}
        onZoom={onZoom}
        onPan={(share) => {
          setZoom(panned(window, whole, share));
        }}
      />
      <svg width={width} height={AXIS_PX} class="axis" aria-hidden="true">
        <line class="axis-line" x1={MARGIN.left} x2={width - MARGIN.right} y1={0.5} y2={0.5} />
        {x.ticks.map((tick) => (
          <text key={tick.value} x={x.scale(tick.value)} y={16} text-anchor="middle">
            {tick.text}
          </text>
        ))}
        <text class="axis-label" x={width / 2} y={AXIS_PX - 6} text-anchor="middle">
          {`Time since the first request (${x.unit})`}
        </text>
      </svg>
    </div>
  );
}

/** Of what is drawn, and nothing else. */
function PhaseLegend({ requests }: { readonly requests: readonly WorkloadRequest[] }): JSX.Element {
  const { seen, failed } = useMemo(
    () => ({
      seen: new Set(requests.flatMap((request) => phasesOf(request).map(({ phase }) => phase))),
      failed: requests.some(({ ok }) => !ok),
    }),
    [requests],
  );
  const phases = (
    [
      ['queue', 'Queue'],
      ['prefill', 'To first token'],
      ['decode', 'Decode'],
      ['whole', 'In flight'],
    ] as const
  ).filter(([phase]) => seen.has(phase));
  return (
    <ul class="wl-legend" aria-label="Phases of a request">
      {phases.map(([phase, label]) => (
        <li key={phase}>
          <span class={`wl-swatch wl-phase-${phase}`} />
          {label}
        </li>
      ))}
      {failed && (
        <li>
          <ClassMark kind="failed" />
        </li>
      )}
    </ul>
  );
}
