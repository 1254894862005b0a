import type { TimelineData } from '../data/analyses';
import type { Span } from './viewport';
import { lengthOf } from './viewport';

/** Bins of a whole run and of a window: what a report stores and a server is asked for. */
export const BINS = 1200;

export interface Detail {
  readonly span: Span;
  readonly binNs: number;
  readonly data: TimelineData;
}

export function detailOf(data: TimelineData): Detail | null {
  const { from_ns: from, to_ns: to } = data;
  if (from === undefined || to === undefined || to <= from) return null;
  return { span: { from, to }, binNs: data.bin_ns ?? (to - from) / BINS, data };
}

function covers(detail: Detail, view: Span, bounds: Span): boolean {
  return (
    detail.span.from <= Math.max(view.from, bounds.from) && detail.span.to >= Math.min(view.to, bounds.to)
  );
}

/** The finest that covers the window; the whole run covers every one. */
export function finest(details: readonly Detail[], view: Span, whole: Detail): Detail {
  return details
    .filter((detail) => covers(detail, view, whole.span))
    .reduce((best, detail) => (detail.binNs < best.binNs ? detail : best), whole);
}

/** Asked for only where slices get this much finer: what comes back is then good enough to stay. */
const FINER = 1.5;

/** What to ask for where a bin is wider than a pixel and there is a finer one to be had; null: nothing. */
export function wanted(have: Detail, view: Span, whole: Detail, pixels: number): Span | null {
  const pixelNs = lengthOf(view) / Math.max(1, pixels);
  const margin = lengthOf(view) * 0.2;
  const span = {
    from: Math.max(whole.span.from, Math.floor(view.from - margin)),
    to: Math.min(whole.span.to, Math.ceil(view.to + margin)),
  };
  const got = Math.max(1, lengthOf(span) / BINS);
  return have.binNs > Math.max(pixelNs, got * FINER, 1) ? span : null;
}

/** Newest first, bounded: what was seen lately is likely to be seen again. */
export function remember(details: readonly Detail[], added: Detail, most = 12): readonly Detail[] {
  return [added, ...details].slice(0, most);
}
