import { useRef, useState } from 'preact/hooks';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface DragHandlers {
  readonly onPointerDown: (event: PointerEvent) => void;
  readonly onPointerMove: (event: PointerEvent) => void;
  readonly onPointerUp: (event: PointerEvent) => void;
  readonly onPointerCancel: (event: PointerEvent) => void;
  readonly onPointerLeave: () => void;
}

/** Closer than this to where it began it is a click. */
const CLICK_PX = 4;

/**
 * Pointer gestures of a plot, in pixels of the element that has the handlers: a drag tells its two corners on
 * every move, a click its point, anything else where the pointer is (null: outside).
 */
export function useDrag(on: {
  readonly drag: (from: Point, to: Point) => void;
  /** The drag has ended where it was last told. */
  readonly drop: () => void;
  readonly click: (at: Point) => void;
  readonly hover: (at: Point | null) => void;
}): { readonly handlers: DragHandlers; readonly dragging: boolean } {
  const start = useRef<Point | null>(null);
  const moved = useRef(false);
  const [dragging, setDragging] = useState(false);
  const at = (event: PointerEvent): Point => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const end = (): void => {
    start.current = null;
    moved.current = false;
    setDragging(false);
  };
  return {
    dragging,
    handlers: {
      onPointerDown: (event) => {
        if (event.button !== 0) return;
        start.current = at(event);
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
      },
      onPointerMove: (event) => {
        const to = at(event);
        const from = start.current;
        if (from === null) {
          on.hover(to);
          return;
        }
        if (!moved.current && Math.hypot(to.x - from.x, to.y - from.y) < CLICK_PX) return;
        if (!moved.current) {
          moved.current = true;
          setDragging(true);
          on.hover(null);
        }
        on.drag(from, to);
      },
      onPointerUp: (event) => {
        if (moved.current) on.drop();
        else if (start.current !== null) on.click(at(event));
        end();
      },
      onPointerCancel: () => {
        if (moved.current) on.drop();
        end();
      },
      onPointerLeave: () => {
        if (start.current === null) on.hover(null);
      },
    },
  };
}
