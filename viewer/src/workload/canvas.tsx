import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface CanvasProps {
  /** In the background, grey: a selection lies over it. Needs no new drawing. */
  readonly dim?: boolean;
  readonly width: number;
  readonly height: number;
  /** Draws everything, in CSS pixels; called again whenever it is another function. */
  readonly draw: (context: CanvasRenderingContext2D) => void;
}

/** A canvas at the screen's own resolution. What it shows is said elsewhere, so it is hidden from readers. */
export function Canvas({ width, height, draw, dim = false }: CanvasProps): JSX.Element {
  const ref = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext('2d') ?? null;
    if (canvas === null || context === null || width <= 0 || height <= 0) return;
    const ratio = window.devicePixelRatio || 1;
    const pixels = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
    if (canvas.width !== pixels.width) canvas.width = pixels.width;
    if (canvas.height !== pixels.height) canvas.height = pixels.height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context);
  }, [width, height, draw]);
  return <canvas ref={ref} class={dim ? 'wl-canvas wl-behind' : 'wl-canvas'} style={{ width, height }} aria-hidden="true" />;
}
