import type { PointClass } from './classes';

/** Half the width of a point in CSS pixels. */
export const POINT_RADIUS = 3.5;

function path(context: CanvasRenderingContext2D, shape: PointClass, r: number): void {
  context.beginPath();
  switch (shape) {
    case 'direct':
    case 'unknown':
      context.arc(0, 0, r, 0, 2 * Math.PI);
      break;
    case 'queued':
      context.moveTo(0, -r * 1.25);
      context.lineTo(r * 1.2, r * 0.9);
      context.lineTo(-r * 1.2, r * 0.9);
      context.closePath();
      break;
    case 'failed':
      context.moveTo(-r, -r);
      context.lineTo(r, r);
      context.moveTo(r, -r);
      context.lineTo(-r, r);
      break;
  }
}

/** Draws one point at (x, y). */
export type Stamp = (context: CanvasRenderingContext2D, x: number, y: number) => void;

export interface StampStyle {
  readonly shape: PointClass;
  readonly radius: number;
  readonly color: string;
  readonly alpha: number;
  readonly outline: string | null;
}

/** A page needs a dozen of them; all that a change of theme or screen adds. */
const made = new Map<string, Stamp>();

/**
 * A point drawn once and stamped many times: ten thousand stamps take a few milliseconds, ten thousand paths
 * several times that.
 */
export function stampOf(style: StampStyle): Stamp {
  const ratio = window.devicePixelRatio || 1;
  const key = JSON.stringify([style, ratio]);
  const known = made.get(key);
  if (known !== undefined) return known;
  const stamp = makeStamp(style, ratio);
  made.set(key, stamp);
  return stamp;
}

function makeStamp({ shape, radius, color, alpha, outline }: StampStyle, ratio: number): Stamp {
  const half = Math.ceil(radius * 1.25 + 2);
  const sprite = document.createElement('canvas');
  sprite.width = sprite.height = half * 2 * ratio;
  const context = sprite.getContext('2d');
  if (context !== null) {
    context.setTransform(ratio, 0, 0, ratio, half * ratio, half * ratio);
    context.globalAlpha = alpha;
    path(context, shape, radius);
    if (shape === 'failed') {
      context.lineWidth = 2;
      context.strokeStyle = color;
      context.stroke();
    } else {
      context.fillStyle = color;
      context.fill();
      if (outline !== null) {
        context.lineWidth = 0.75;
        context.strokeStyle = outline;
        context.stroke();
      }
    }
  }
  return (target, x, y) => {
    target.drawImage(sprite, x - half, y - half, half * 2, half * 2);
  };
}

/** The same shapes for a legend, as an SVG path around (0, 0). */
export function shapePath(shape: PointClass, r: number): string {
  switch (shape) {
    case 'direct':
    case 'unknown':
      return `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
    case 'queued':
      return `M0,${-r * 1.25}L${r * 1.2},${r * 0.9}L${-r * 1.2},${r * 0.9}Z`;
    case 'failed':
      return `M${-r},${-r}L${r},${r}M${r},${-r}L${-r},${r}`;
  }
}
