import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Colors } from './colors';
import type { Lane } from './lanes';
import { paintOverview } from './paint';
import type { Span } from './viewport';
import { clampTo, lengthOf } from './viewport';

const HEIGHT = 26;

interface OverviewProps {
  readonly lanes: readonly Lane[];
  readonly bounds: Span;
  readonly view: Span;
  readonly width: number;
  readonly colors: Colors;
  readonly onView: (view: Span) => void;
}

/** The whole run, always there, with the window that is shown below; a press or a drag moves it. */
export function Overview({ lanes, bounds, view, width, colors, onView }: OverviewProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const grip = useRef<number | null>(null);
  useEffect(() => {
    if (canvas.current === null || width === 0) return;
    const scene = { lanes, view: bounds, width, colors, selected: { pass: null, layer: null }, seen: new Map<string, number>() };
    paintOverview(canvas.current, scene, HEIGHT);
  }, [lanes, bounds, width, colors]);
  const perPixel = lengthOf(bounds) / Math.max(1, width);
  const left = (view.from - bounds.from) / perPixel;
  const size = Math.max(3, lengthOf(view) / perPixel);
  const moveTo = (x: number): void => {
    const from = bounds.from + (x - (grip.current ?? 0)) * perPixel;
    onView(clampTo({ from, to: from + lengthOf(view) }, bounds));
  };
  return (
    <div
      class="tl-overview"
      style={{ height: `${HEIGHT}px` }}
      aria-hidden="true"
      onPointerDown={(event) => {
        const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
        const inside = x >= left && x <= left + size;
        grip.current = inside ? x - left : size / 2;
        event.currentTarget.setPointerCapture(event.pointerId);
        if (!inside) moveTo(x);
      }}
      onPointerMove={(event) => {
        if (grip.current !== null) moveTo(event.clientX - event.currentTarget.getBoundingClientRect().left);
      }}
      onPointerUp={() => {
        grip.current = null;
      }}
      onPointerCancel={() => {
        grip.current = null;
      }}
    >
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${HEIGHT}px` }} />
      <span class="tl-shade" style={{ left: '0', width: `${Math.max(0, left)}px` }} />
      <span class="tl-shade" style={{ left: `${left + size}px`, right: '0' }} />
      <span class="tl-window" style={{ left: `${left}px`, width: `${size}px` }} />
    </div>
  );
}
