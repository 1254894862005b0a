/** Windows of time: [from, to] in ns, always inside the whole run. */
export type Window = readonly [number, number];

/** No window is narrower than this. */
const LEAST_NS = 1000;

/** Nearer by `factor` around a time; null when that is the whole run again. */
export function zoomed(window: Window, whole: Window, factor: number, around_ns: number): Window | null {
  const span = Math.max(LEAST_NS, (window[1] - window[0]) / factor);
  if (span >= whole[1] - whole[0]) return null;
  const share = (around_ns - window[0]) / (window[1] - window[0]);
  const from = Math.max(whole[0], Math.min(whole[1] - span, around_ns - share * span));
  return [from, from + span];
}

/** Moved by a share of its width, held at the ends of the run; null when it is the whole run. */
export function panned(window: Window, whole: Window, share: number): Window | null {
  const span = window[1] - window[0];
  if (span >= whole[1] - whole[0]) return null;
  const from = Math.max(whole[0], Math.min(whole[1] - span, window[0] + share * span));
  return [from, from + span];
}
