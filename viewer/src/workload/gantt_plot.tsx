import type { JSX, RefObject } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Canvas } from './canvas';
import type { Margin } from './axes';
import type { Axis } from './axis';
import { drawBars, hitRow, type Bars } from './bars';
import { scrollToRow, visibleRows } from './gantt';
import type { WorkloadRequest } from './model';
import type { Palette } from './palette';
import { covered, stepTo } from './plotting';
import type { Range } from './selection';
import { useDrag, type Point } from './use_drag';
import { spokenTip, useMarkTip, type TipRows } from './use_mark_tip';

export interface GanttPlotProps {
  readonly scroller: RefObject<HTMLDivElement>;
  /** What is scrolled: as wide as the chart without its scroll bar. */
  readonly content: RefObject<HTMLDivElement>;
  readonly requests: readonly WorkloadRequest[];
  readonly bars: Bars;
  readonly order: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly row_px: number;
  readonly margin: Margin;
  readonly x: Axis;
  readonly range: Range | undefined;
  readonly selected: Uint8Array | null;
  readonly failed: Uint8Array;
  readonly chosen: number | null;
  readonly palette: Palette;
  readonly cursor_ns: number | null;
  readonly title: (position: number) => string;
  readonly describe: (position: number) => TipRows;
  readonly onCursor: (t_ns: number | null) => void;
  readonly onBrush: (from_px: number, to_px: number) => void;
  readonly onBrushed: () => void;
  readonly onChoose: (position: number | null) => void;
  /** Factor > 1 goes nearer, around a pixel; shift in parts of the window. */
  readonly onZoom: (factor: number, around_px: number) => void;
  readonly onPan: (share: number) => void;
}

/** Rows thick enough to carry the number of their request. */
const LABEL_ROW_PX = 13;

/** The request chart: a scrolled list of rows on one canvas as large as its window. */
export function GanttPlot(props: GanttPlotProps): JSX.Element {
  const { requests, bars, order, width, height, row_px, margin, x, chosen, selected, failed, palette } = props;
  const [top, setTop] = useState(0);
  const [spoken, setSpoken] = useState('');
  const [pointed, setPointed] = useState<{ position: number; at: Point } | null>(null);
  const ends: [number, number] = [margin.left, width - margin.right];
  const rows = visibleRows(order.length, row_px, top, height);
  const rowOf = useMemo(() => new Map(order.map((position, row) => [position, row])), [order]);
  const startOf = (position: number): number => requests[position]?.start_ns ?? 0;

  const reveal = (position: number): void => {
    const row = rowOf.get(position);
    const scroller = props.scroller.current;
    if (row === undefined || scroller === null) return;
    scroller.scrollTop = scrollToRow(row, row_px, scroller.scrollTop, height);
  };
  useEffect(() => {
    if (chosen !== null) reveal(chosen);
  }, [chosen, row_px, order, height]);

  const place = { order, rows, row_px, top, field: ends, x: x.scale, failed, palette } as const;
  const placed = [bars, order, rows[0], rows[1], row_px, top, x, width, failed, palette];
  // All bars lie in the background, dimmed while there is a selection; a moving brush draws only what it selects.
  const drawAll = useMemo(
    () => (context: CanvasRenderingContext2D) => {
      drawBars(context, bars, { ...place, only: null }, startOf);
    },
    placed,
  );
  const drawSelected = useMemo(
    () => (context: CanvasRenderingContext2D) => {
      if (selected !== null) drawBars(context, bars, { ...place, only: selected }, startOf);
    },
    [...placed, selected],
  );

  const covers = (position: number, t_ns: number): boolean => {
    const last = (bars.first[position + 1] ?? 0) - 1;
    const first = bars.first[position] ?? 0;
    return last >= first && (bars.start[first] ?? Infinity) <= t_ns && (bars.end[last] ?? -Infinity) >= t_ns;
  };
  const hit = (at: Point): number | null => {
    const t_ns = x.invert(at.x);
    return hitRow(order, row_px, at.y + top, (position) => covers(position, t_ns));
  };
  const { handlers, dragging } = useDrag({
    drag: (from, to) => {
      props.onBrush(from.x, to.x);
    },
    drop: props.onBrushed,
    click: (at) => {
      props.onChoose(hit(at));
    },
    hover: (at) => {
      const position = at === null ? null : hit(at);
      props.onCursor(at === null || at.x < ends[0] || at.x > ends[1] ? null : x.invert(at.x));
      setPointed(at === null || position === null ? null : { position, at });
    },
  });

  const walkTo = (position: number | null): void => {
    if (position === null) return;
    reveal(position);
    const y = ((rowOf.get(position) ?? 0) + 0.5) * row_px - (props.scroller.current?.scrollTop ?? 0);
    const hold = Math.max(ends[0], Math.min(ends[1], x.scale(startOf(position))));
    setPointed({ position, at: { x: hold, y } });
    setSpoken(spokenTip(props.title(position), props.describe(position)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    const middle = (ends[0] + ends[1]) / 2;
    if (step !== undefined) walkTo(stepTo(order, pointed?.position ?? chosen, step));
    else if (event.key === 'Home') walkTo(order[0] ?? null);
    else if (event.key === 'End') walkTo(order.at(-1) ?? null);
    else if (event.key === 'Enter' || event.key === ' ') {
      if (pointed !== null) props.onChoose(pointed.position);
    } else if (event.key === '+' || event.key === '=') props.onZoom(1.5, middle);
    else if (event.key === '-') props.onZoom(1 / 1.5, middle);
    else if (event.key === 'ArrowRight') props.onPan(0.2);
    else if (event.key === 'ArrowLeft') props.onPan(-0.2);
    else return;
    event.preventDefault();
  };
  const onWheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = (event.currentTarget as Element).getBoundingClientRect();
    props.onZoom(Math.exp(-event.deltaY / 300), event.clientX - box.left);
  };

  useMarkTip(
    props.scroller,
    pointed === null || dragging ? null : pointed.at,
    pointed === null ? '' : props.title(pointed.position),
    () => (pointed === null ? [] : props.describe(pointed.position)),
  );
  const brush = props.range === undefined ? null : covered(x, props.range, ends);
  const middleOf = (position: number): number | null => {
    const row = rowOf.get(position);
    return row === undefined ? null : (row + 0.5) * row_px - top;
  };
  const chosenY = chosen === null ? null : middleOf(chosen);
  const pointedY = pointed === null ? null : middleOf(pointed.position);
  const band = Math.max(3, row_px);
  return (
    <div
      ref={props.scroller}
      class="wl-plot wl-gantt"
      data-plot="Requests"
      tabIndex={0}
      role="group"
      aria-roledescription="request chart"
      aria-label={`Requests over time: ${order.length} rows in order of start. Up and down go through requests, Enter chooses one, plus and minus zoom, left and right move.`}
      style={{ height }}
      onScroll={(event) => {
        setTop(event.currentTarget.scrollTop);
      }}
      onKeyDown={onKeyDown}
      onBlur={() => {
        setPointed(null);
      }}
    >
      <div ref={props.content} style={{ height: Math.max(height, order.length * row_px) }}>
        <div class="wl-gantt-window" style={{ height, width }} onWheel={onWheel} {...handlers}>
          <svg class="wl-layer" width={width} height={height} aria-hidden="true">
            {x.ticks.map((tick) => {
              const at = Math.round(x.scale(tick.value)) + 0.5;
              return <line key={tick.value} class="grid" x1={at} x2={at} y1={0} y2={height} />;
            })}
            {pointedY !== null && (
              <rect class="wl-row-pointed" x={ends[0]} width={ends[1] - ends[0]} y={pointedY - band / 2} height={band} />
            )}
            {chosenY !== null && (
              <rect class="wl-row-chosen" x={ends[0]} width={ends[1] - ends[0]} y={chosenY - band / 2} height={band} />
            )}
          </svg>
          <Canvas width={width} height={height} draw={drawAll} dim={selected !== null} />
          <Canvas width={width} height={height} draw={drawSelected} />
          <svg class="wl-layer" width={width} height={height} aria-hidden="true">
            {row_px >= LABEL_ROW_PX &&
              order.slice(rows[0], rows[1]).map((position, i) => (
                <text
                  key={position}
                  x={ends[0] - 8}
                  y={(rows[0] + i + 0.5) * row_px - top}
                  dy="0.32em"
                  text-anchor="end"
                >
                  {`#${requests[position]?.index ?? position}`}
                </text>
              ))}
            {brush !== null && (
              <rect class="wl-brush" x={brush[0]} y={0} width={Math.max(1, brush[1] - brush[0])} height={height} />
            )}
            {props.cursor_ns !== null && (
              <line
                class="wl-cursor"
                x1={Math.round(x.scale(props.cursor_ns)) + 0.5}
                x2={Math.round(x.scale(props.cursor_ns)) + 0.5}
                y1={0}
                y2={height}
              />
            )}
          </svg>
          <span class="offscreen" aria-live="polite">
            {spoken}
          </span>
        </div>
      </div>
    </div>
  );
}
