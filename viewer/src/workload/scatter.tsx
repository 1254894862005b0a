import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useSize } from '../ui/use_size';
import { Axes, type Margin } from './axes';
import { Canvas } from './canvas';
import { makeAxis, plotDomain, type Axis } from './axis';
import { POINT_CLASSES, type PointClass } from './classes';
import type { Palette } from './palette';
import { brushed, covered, extentAt, nearest, plotted, readingOrder, stepTo } from './plotting';
import type { Range } from './selection';
import { POINT_RADIUS, stampOf } from './sprites';
import { useDrag, type Point } from './use_drag';
import { spokenTip, useMarkTip, type TipRows } from './use_mark_tip';

/** One axis of a scatter plot: a value a request, NaN where it is not known. */
export interface ScatterAxis {
  readonly label: string;
  readonly kind: 'ns' | 'tokens';
  readonly values: Float64Array;
  readonly range: Range | undefined;
}

export interface ScatterProps {
  /** Names the plot for readers of the screen and for tests. */
  readonly name: string;
  readonly x: ScatterAxis;
  readonly y: ScatterAxis;
  readonly log: boolean;
  readonly classes: readonly PointClass[];
  /** 1 = shown (input-token filter). */
  readonly shown: Uint8Array;
  /** 1 = selected; null when nothing is. */
  readonly selected: Uint8Array | null;
  /** Position of the chosen request. */
  readonly chosen: number | null;
  readonly palette: Palette;
  readonly title: (position: number) => string;
  readonly describe: (position: number) => TipRows;
  readonly onBrush: (x: Range, y: Range) => void;
  readonly onBrushed: () => void;
  readonly onChoose: (position: number | null) => void;
}

const MARGIN: Margin = { top: 10, right: 14, bottom: 40, left: 58 };
const REACH_PX = 14;
/** Points on one pixel that add up to its full colour. */
const CROWD = 3;
/** Never drawn narrower. */
const LEAST_PX = 160;
/** From here on points are smaller and have no outline. */
const MANY_POINTS = 2000;

/** True once `most` points were drawn on this pixel: further ones cannot be seen. */
function isCrowded(crowd: Map<number, number>, x: number, y: number, most: number): boolean {
  const pixel = Math.round(y) * 65_536 + Math.round(x);
  const drawn = crowd.get(pixel) ?? 0;
  if (drawn >= most) return true;
  crowd.set(pixel, drawn + 1);
  return false;
}

interface PointStyle {
  readonly classes: readonly PointClass[];
  readonly palette: Palette;
  /** So many that they are drawn small. */
  readonly many: boolean;
}

function drawPoints(
  context: CanvasRenderingContext2D,
  positions: readonly number[],
  { classes, palette, many }: PointStyle,
  pixel: (position: number) => Point,
): void {
  const radius = many ? 2.5 : POINT_RADIUS;
  const alpha = many ? 0.55 : 0.85;
  const outline = many ? null : palette.surface;
  for (const shape of POINT_CLASSES) {
    const stamp = stampOf({ shape, radius, color: palette.points[shape], alpha, outline });
    const crowd = new Map<number, number>();
    for (const position of positions) {
      if (classes[position] !== shape) continue;
      const { x, y } = pixel(position);
      if (many && isCrowded(crowd, x, y, CROWD)) continue;
      stamp(context, x, y);
    }
  }
}

function axesOf(
  props: Pick<ScatterProps, 'x' | 'y' | 'log'>,
  positions: readonly number[],
  width: number,
  height: number,
): { x: Axis; y: Axis } {
  const { x, y, log } = props;
  return {
    x: makeAxis(plotDomain(extentAt(x.values, positions), log, x.kind), [MARGIN.left, width - MARGIN.right], {
      kind: x.kind,
      log,
      ticks: Math.max(2, Math.floor(width / 90)),
    }),
    y: makeAxis(plotDomain(extentAt(y.values, positions), log, y.kind), [height - MARGIN.bottom, MARGIN.top], {
      kind: y.kind,
      log,
      ticks: Math.max(2, Math.floor(height / 55)),
    }),
  };
}

/** A scatter plot of all requests: drag selects, click chooses one, arrow keys walk through the points. */
export function Scatter(props: ScatterProps): JSX.Element {
  const { name, x, y, shown, selected, chosen, palette, classes, log, describe } = props;
  const { ref, width: measured, height } = useSize<HTMLDivElement>();
  // Before it is measured, and on a tab that is not shown, a plot has no width.
  const width = Math.max(LEAST_PX, measured);
  const [spoken, setSpoken] = useState('');
  const [pointed, setPointed] = useState<number | null>(null);
  const positions = useMemo(() => plotted(x.values, y.values, shown, log), [x.values, y.values, shown, log]);
  const axes = useMemo(() => axesOf({ x, y, log }, positions, width, height), [positions, log, width, height]);
  const order = useMemo(() => readingOrder(positions, x.values, y.values), [positions]);
  const pixel = (position: number): Point => ({
    x: axes.x.scale(x.values[position] ?? Number.NaN),
    y: axes.y.scale(y.values[position] ?? Number.NaN),
  });
  const many = positions.length > MANY_POINTS;
  // All points lie in the background, dimmed while there is a selection; a moving brush draws only what it selects.
  const drawAll = useMemo(
    () => (context: CanvasRenderingContext2D) => {
      drawPoints(context, positions, { classes, palette, many }, pixel);
    },
    [positions, classes, palette, axes],
  );
  const drawSelected = useMemo(
    () => (context: CanvasRenderingContext2D) => {
      const marked = selected === null ? [] : positions.filter((position) => selected[position] === 1);
      drawPoints(context, marked, { classes, palette, many }, pixel);
    },
    [positions, classes, palette, axes, selected],
  );
  const { handlers, dragging } = useDrag({
    drag: (from, to) => {
      props.onBrush(brushed(axes.x, from.x, to.x), brushed(axes.y, from.y, to.y));
    },
    drop: props.onBrushed,
    click: (at) => {
      props.onChoose(nearest(positions, pixel, at, REACH_PX));
    },
    hover: (at) => {
      setPointed(at === null ? null : nearest(positions, pixel, at, REACH_PX));
    },
  });
  const walkTo = (position: number | null): void => {
    setPointed(position);
    setSpoken(position === null ? '' : spokenTip(props.title(position), describe(position)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (step !== undefined) walkTo(stepTo(order, pointed ?? chosen, step));
    else if (event.key === 'Home') walkTo(order[0] ?? null);
    else if (event.key === 'End') walkTo(order.at(-1) ?? null);
    else if ((event.key === 'Enter' || event.key === ' ') && pointed !== null) props.onChoose(pointed);
    else return;
    event.preventDefault();
  };
  const brush =
    x.range === undefined && y.range === undefined
      ? null
      : {
          x: covered(axes.x, x.range, [MARGIN.left, width - MARGIN.right]),
          y: covered(axes.y, y.range, [height - MARGIN.bottom, MARGIN.top]),
        };
  const marked = chosen !== null && positions.includes(chosen) ? pixel(chosen) : null;
  const tip = pointed !== null && !dragging ? pixel(pointed) : null;
  useMarkTip(ref, tip, pointed === null ? '' : props.title(pointed), () => (pointed === null ? [] : describe(pointed)));
  return (
    <div
      ref={ref}
      class="wl-plot wl-scatter"
      data-plot={name}
      tabIndex={0}
      role="group"
      aria-roledescription="scatter plot"
      aria-label={`${name}: ${positions.length} requests. Arrow keys go from point to point, Enter chooses one.`}
      onKeyDown={onKeyDown}
      onBlur={() => {
        setPointed(null);
      }}
      {...handlers}
    >
      <svg class="wl-layer" width={width} height={height}>
        <Axes width={width} height={height} margin={MARGIN} x={axes.x} y={axes.y} xLabel={x.label} yLabel={y.label} />
      </svg>
      {positions.length === 0 && (
        <p class="wl-no-points">{`No request has ${x.label.toLowerCase()} and ${y.label}.`}</p>
      )}
      <Canvas width={width} height={height} draw={drawAll} dim={selected !== null} />
      <Canvas width={width} height={height} draw={drawSelected} />
      <svg class="wl-layer" width={width} height={height} aria-hidden="true">
        {brush !== null && (
          <rect
            class="wl-brush"
            x={brush.x[0]}
            y={brush.y[0]}
            width={Math.max(1, brush.x[1] - brush.x[0])}
            height={Math.max(1, brush.y[1] - brush.y[0])}
          />
        )}
        {marked !== null && <circle class="wl-chosen" cx={marked.x} cy={marked.y} r={7.5} />}
        {tip !== null && <circle class="wl-pointed" cx={tip.x} cy={tip.y} r={6} />}
      </svg>
      <span class="offscreen" aria-live="polite">
        {spoken}
      </span>
    </div>
  );
}
