import type { TimelineSlice } from '../data/analyses';
import { firstEndingAfter } from './lanes';
import type { Span } from './viewport';
import { lengthOf } from './viewport';

/** A rectangle of a lane: pixels, the slice that gives its colour and name, how full it is. */
export interface Mark {
  readonly x: number;
  readonly width: number;
  readonly slice: TimelineSlice;
  /** Busy share, 0 to 1. */
  readonly fill: number;
}

/** Marks are no narrower, so that one short kernel in a long run is seen. */
const NARROWEST = 1;

/**
 * Slices in a window as marks. Where several begin on one pixel the one with the most time stands for them,
 * so a lane never has more marks than pixels.
 */
export function marksOf(slices: readonly TimelineSlice[], view: Span, width: number): Mark[] {
  const perPixel = lengthOf(view) / Math.max(1, width);
  const marks: Mark[] = [];
  let column = -1;
  let heaviest = 0;
  for (let at = firstEndingAfter(slices, view.from); at < slices.length; at += 1) {
    const slice = slices[at];
    if (slice === undefined || slice.start_ns >= view.to) break;
    const x = Math.max(0, (slice.start_ns - view.from) / perPixel);
    const end = Math.min(width, (slice.end_ns - view.from) / perPixel);
    const length = Math.max(1, slice.end_ns - slice.start_ns);
    const fill = slice.n > 1 ? Math.min(1, slice.busy_ns / length) : 1;
    const mark: Mark = { x, width: Math.max(NARROWEST, end - x), slice, fill };
    const pixel = Math.floor(x);
    if (pixel === column && end - x < NARROWEST) {
      if (slice.busy_ns > heaviest) {
        heaviest = slice.busy_ns;
        marks[marks.length - 1] = mark;
      }
      continue;
    }
    column = pixel;
    heaviest = slice.busy_ns;
    marks.push(mark);
  }
  return marks;
}
