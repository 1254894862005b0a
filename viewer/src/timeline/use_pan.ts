import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

/** A press that moved less is a click. */
const CLICK_PX = 4;

interface PanHandlers {
  readonly onPan: (pixels: number) => void;
  readonly onClick: (x: number, y: number) => void;
}

interface Press {
  readonly x: number;
  last: number;
  moved: boolean;
}

interface PanProps {
  readonly onPointerDown: (event: PointerEvent) => void;
  readonly onPointerMove: (event: PointerEvent) => void;
  readonly onPointerUp: (event: PointerEvent) => void;
  readonly onPointerCancel: () => void;
}

/** Drag moves, a press without a drag clicks. */
export function usePan({ onPan, onClick }: PanHandlers): PanProps & { isDragging: () => boolean } {
  const press = useRef<Press | null>(null);
  return {
    isDragging: () => press.current?.moved === true,
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      press.current = { x: event.clientX, last: event.clientX, moved: false };
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      const at = press.current;
      if (at === null) return;
      if (!at.moved && Math.abs(event.clientX - at.x) < CLICK_PX) return;
      at.moved = true;
      onPan(event.clientX - at.last);
      at.last = event.clientX;
    },
    onPointerUp: (event) => {
      const at = press.current;
      press.current = null;
      if (at === null || at.moved) return;
      const box = (event.currentTarget as Element).getBoundingClientRect();
      onClick(event.clientX - box.left, event.clientY - box.top);
    },
    onPointerCancel: () => {
      press.current = null;
    },
  };
}

interface WheelHandlers {
  /** Factor of the window's length, and where, as a share of the width. */
  readonly onZoom: (factor: number, share: number) => void;
  readonly onPan: (pixels: number) => void;
}

/** Ctrl, Meta or a pinch zooms, Shift or sideways moves; a plain turn scrolls the page as always. */
export function useWheel(ref: RefObject<HTMLElement>, handlers: WheelHandlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const box = element.getBoundingClientRect();
        const step = Math.max(-60, Math.min(60, event.deltaY));
        latest.current.onZoom(Math.exp(step * 0.01), (event.clientX - box.left) / Math.max(1, box.width));
      } else if (sideways !== 0) {
        event.preventDefault();
        latest.current.onPan(-sideways);
      }
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      element.removeEventListener('wheel', onWheel);
    };
  }, [ref]);
}
