import { useState } from 'preact/hooks';

/** Rows kept above and below what is seen, so that a turn of the wheel shows no gap. */
const SPARE_ROWS = 8;

export interface RowWindow {
  readonly first: number;
  /** One behind the last. */
  readonly end: number;
  readonly above: number;
  readonly below: number;
}

/** Which of `n` rows of one height stand in a box that is scrolled to `top`. */
export function windowOf(n: number, rowHeight: number, top: number, height: number): RowWindow {
  const fit = Math.ceil(height / rowHeight);
  const first = Math.max(0, Math.min(n - fit, Math.floor(top / rowHeight)) - SPARE_ROWS);
  const end = Math.min(n, Math.max(0, Math.floor(top / rowHeight)) + fit + SPARE_ROWS);
  return { first, end: Math.max(first, end), above: first * rowHeight, below: Math.max(0, n - Math.max(first, end)) * rowHeight };
}

/** Follows a scrolling box in whole steps, so that most scroll events render nothing. */
export function useScrollTop(rowHeight: number): [number, (event: { currentTarget: Element }) => void] {
  const [top, setTop] = useState(0);
  const step = rowHeight * Math.floor(SPARE_ROWS / 2);
  return [
    top,
    (event) => {
      setTop(Math.floor(event.currentTarget.scrollTop / step) * step);
    },
  ];
}

/** Scrolls so that row `index` is seen under a sticky head. */
export function revealRow(box: Element, index: number, rowHeight: number, head: number): void {
  const from = index * rowHeight;
  if (from < box.scrollTop) box.scrollTop = from;
  const until = from + rowHeight + head - box.clientHeight;
  if (until > box.scrollTop) box.scrollTop = until;
}
