import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimelineSlice } from '../data/analyses';
import { NameText } from '../ui/name_text';
import { hideTip, showTip } from '../ui/tooltip';
import { visibleText } from '../ui/visible_text';
import type { Colors } from './colors';
import { spoken, tipOf } from './describe';
import type { Lane, Selected } from './lanes';
import { lanePlaces, sliceAt, stepFrom } from './lanes';
import { LANE_HEIGHT, paintLanes } from './paint';
import { usePan, useWheel } from './use_pan';
import type { Span } from './viewport';
import { axisOf, lengthOf, panBy, reveal, zoomAt } from './viewport';

interface LanesProps {
  readonly lanes: readonly Lane[];
  readonly bounds: Span;
  readonly view: Span;
  readonly width: number;
  readonly colors: Colors;
  readonly selected: Selected;
  readonly onView: (view: Span) => void;
  readonly onChoose: (lane: Lane, slice: TimelineSlice) => void;
  readonly onCopy: () => void;
}

interface Focus {
  readonly laneKey: string;
  readonly slice: TimelineSlice;
}

/** Room that the text of a tick needs. */
const TICK_PX = 76;

/** Near the right end the text stands left of its line, so that it is not cut. */
function AxisTick({ x, width, text }: { x: number; width: number; text: string }): JSX.Element {
  return x > width - TICK_PX ? (
    <span class="tl-tick-end" style={{ right: `${(width - x).toFixed(1)}px` }}>
      {text}
    </span>
  ) : (
    <span style={{ left: `${x.toFixed(1)}px` }}>{text}</span>
  );
}

function AxisRow({ view, width }: { view: Span; width: number }): JSX.Element {
  const { ticks, text } = axisOf(view, Math.max(2, width / 110));
  return (
    <div class="tl-axis" aria-hidden="true">
      {width > 0 &&
        ticks.map((tick) => (
          <AxisTick key={tick} x={((tick - view.from) / lengthOf(view)) * width} width={width} text={text(tick)} />
        ))}
    </div>
  );
}

function Labels({ lanes }: { lanes: readonly Lane[] }): JSX.Element {
  const places = lanePlaces(lanes.map(({ lane }) => lane));
  return (
    <div class="tl-labels">
      {lanes.map(({ key, lane }, at) => (
        <div key={key} style={{ height: `${LANE_HEIGHT}px` }}>
          {places[at] !== '' && <span class="muted">{visibleText(places[at] ?? '')} </span>}
          <NameText text={lane.name} limit={40} />
        </div>
      ))}
    </div>
  );
}

/** Keys of the lanes; null: the key is for something else. */
function viewAfterKey(event: KeyboardEvent, view: Span, bounds: Span, at: number): Span | null {
  const quarter = lengthOf(view) / 4;
  if (event.key === '+' || event.key === '=') return zoomAt(view, 0.6, at, bounds);
  if (event.key === '-' || event.key === '_') return zoomAt(view, 1 / 0.6, at, bounds);
  if (event.key === '0') return bounds;
  if (event.shiftKey && event.key === 'ArrowLeft') return panBy(view, -quarter, bounds);
  if (event.shiftKey && event.key === 'ArrowRight') return panBy(view, quarter, bounds);
  return null;
}

function useFocus(props: LanesProps): {
  focus: Focus | null;
  laneAt: number;
  move: (key: string) => boolean;
  set: (lane: Lane, slice: TimelineSlice) => void;
} {
  const { lanes, view, bounds, onView } = props;
  const [focus, setFocus] = useState<Focus | null>(null);
  const firstWith = Math.max(0, lanes.findIndex((lane) => lane.slices.length > 0));
  const found = lanes.findIndex((lane) => lane.key === focus?.laneKey);
  const laneAt = found < 0 ? firstWith : found;
  const lane = lanes[laneAt];
  const visible = lane === undefined ? null : sliceAt(lane.slices, (view.from + view.to) / 2, Infinity);
  const current = focus !== null && found >= 0 ? focus : lane === undefined || visible === null ? null : { laneKey: lane.key, slice: visible };
  const set = (to: Lane, slice: TimelineSlice): void => {
    setFocus({ laneKey: to.key, slice });
    onView(reveal(view, { from: slice.start_ns, to: slice.end_ns }, bounds));
  };
  const move = (key: string): boolean => {
    if (lane === undefined) return false;
    const at = current?.slice ?? null;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const next = stepFrom(lane.slices, at, key === 'ArrowRight' ? 1 : -1);
      if (next !== null) set(lane, next);
      return true;
    }
    if (key !== 'ArrowUp' && key !== 'ArrowDown') return false;
    const by = key === 'ArrowDown' ? 1 : -1;
    const middle = at === null ? view.from : (Math.max(at.start_ns, view.from) + Math.min(at.end_ns, view.to)) / 2;
    for (let to = laneAt + by; to >= 0 && to < lanes.length; to += by) {
      const next = lanes[to];
      const slice = next === undefined ? null : sliceAt(next.slices, middle, Infinity);
      if (next !== undefined && slice !== null) {
        set(next, slice);
        break;
      }
    }
    return true;
  };
  return { focus: current, laneAt, move, set };
}

/** Lanes over a window of time: drag, wheel and keys move and zoom, a click chooses. */
export function LanesView(props: LanesProps): JSX.Element {
  const { lanes, bounds, view, width, colors, selected, onView, onChoose } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const seen = useRef(new Map<string, number>());
  const perPixel = lengthOf(view) / Math.max(1, width);
  const { focus, laneAt, move } = useFocus(props);
  useEffect(() => {
    if (canvas.current === null || width === 0) return;
    paintLanes(canvas.current, { lanes, view, width, colors, selected, seen: seen.current });
  }, [lanes, view, width, colors, selected.pass, selected.layer]);
  const hit = (x: number, y: number): { lane: Lane; slice: TimelineSlice } | null => {
    const lane = lanes[Math.floor(y / LANE_HEIGHT)];
    const slice = lane === undefined ? null : sliceAt(lane.slices, view.from + x * perPixel, 3 * perPixel);
    return lane === undefined || slice === null ? null : { lane, slice };
  };
  const pan = usePan({
    onPan: (pixels) => {
      hideTip();
      onView(panBy(view, -pixels * perPixel, bounds));
    },
    onClick: (x, y) => {
      const found = hit(x, y);
      if (found !== null) onChoose(found.lane, found.slice);
    },
  });
  useWheel(area, {
    onZoom: (factor, share) => {
      onView(zoomAt(view, factor, view.from + share * lengthOf(view), bounds));
    },
    onPan: (pixels) => {
      onView(panBy(view, -pixels * perPixel, bounds));
    },
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = focus === null ? (view.from + view.to) / 2 : (focus.slice.start_ns + focus.slice.end_ns) / 2;
    const next = viewAfterKey(event, view, bounds, Math.min(Math.max(middle, view.from), view.to));
    if (next !== null) onView(next);
    else if (event.key === 'c') props.onCopy();
    else if (!move(event.key)) return;
    event.preventDefault();
  };
  const left = focus === null ? 0 : (focus.slice.start_ns - view.from) / perPixel;
  const right = focus === null ? 0 : (focus.slice.end_ns - view.from) / perPixel;
  const focusLane = lanes[laneAt];
  return (
    <>
      <AxisRow view={view} width={width} />
      <div class="tl-scroll">
        <Labels lanes={lanes} />
        <div class="tl-area" ref={area} style={{ width: `${width}px`, height: `${lanes.length * LANE_HEIGHT}px` }}>
          <canvas
            ref={canvas}
            style={{ width: `${width}px`, height: `${lanes.length * LANE_HEIGHT}px` }}
            role="img"
            aria-label={`${lanes.length} lanes of time`}
            onPointerDown={pan.onPointerDown}
            onPointerUp={pan.onPointerUp}
            onPointerCancel={pan.onPointerCancel}
            onPointerMove={(event) => {
              pan.onPointerMove(event);
              if (event.buttons !== 0) return;
              const box = event.currentTarget.getBoundingClientRect();
              const found = hit(event.clientX - box.left, event.clientY - box.top);
              event.currentTarget.style.cursor = found === null ? 'grab' : 'pointer';
              if (found === null) hideTip();
              else {
                // Above the strip, so that neither its tools nor the other lanes are covered.
                const top = event.currentTarget.closest('.tl')?.getBoundingClientRect().top ?? box.top;
                showTip({ left: event.clientX, right: event.clientX, top, bottom: window.innerHeight }, tipOf(found.lane.lane, found.slice));
              }
            }}
            onPointerLeave={hideTip}
            onDblClick={(event) => {
              const box = event.currentTarget.getBoundingClientRect();
              const found = hit(event.clientX - box.left, event.clientY - box.top);
              if (found !== null) {
                const room = (found.slice.end_ns - found.slice.start_ns) * 0.15;
                onView(zoomAt({ from: found.slice.start_ns - room, to: found.slice.end_ns + room }, 1, found.slice.start_ns, bounds));
              }
            }}
          />
          <button
            type="button"
            class="tl-focus"
            aria-label={focus === null || focusLane === undefined ? 'No slices' : spoken(focusLane.lane, focus.slice)}
            aria-describedby="tl-keys"
            style={{
              left: `${Math.max(0, Math.min(width - 3, left)).toFixed(1)}px`,
              width: `${Math.max(3, Math.min(width, right) - Math.max(0, left)).toFixed(1)}px`,
              top: `${laneAt * LANE_HEIGHT}px`,
              height: `${LANE_HEIGHT}px`,
            }}
            onKeyDown={onKeyDown}
            onClick={() => {
              if (focus !== null && focusLane !== undefined) onChoose(focusLane, focus.slice);
            }}
          />
          <span id="tl-keys" class="offscreen">
            Left and right: slices. Up and down: lanes. Plus and minus: zoom. Shift with left and right: move. 0: whole run. Enter: choose. C: copy the range.
          </span>
        </div>
      </div>
    </>
  );
}
