import type { TimelineData, TimelineLane, TimelineSlice } from '../data/analyses';

/** A lane with its slices in order of time; they do not overlap but where a lane is of several streams. */
export interface Lane {
  readonly key: string;
  readonly lane: TimelineLane;
  readonly slices: readonly TimelineSlice[];
}

const ORDER: readonly TimelineLane['kind'][] = ['steps', 'passes', 'layers', 'blocks', 'stream'];

/** A lane of another answer is the same when it is of the same kind and place. */
export function laneKey(lane: TimelineLane): string {
  return [lane.kind, lane.rank, lane.pid, lane.device, lane.stream, lane.kind === 'stream' ? '' : lane.name].join('|');
}

/** Lanes by rank and device, steps first, streams last, each with its slices sorted. */
export function lanesOf(data: TimelineData): readonly Lane[] {
  const slices = new Map<number, TimelineSlice[]>();
  for (const slice of data.slices ?? []) {
    const list = slices.get(slice.lane);
    if (list === undefined) slices.set(slice.lane, [slice]);
    else list.push(slice);
  }
  const place = (lane: TimelineLane): number => (lane.rank ?? 0) * 1_000 + (Number(lane.device) || 0);
  return [...(data.lanes ?? [])]
    .sort((a, b) => place(a) - place(b) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || a.id - b.id)
    .map((lane) => ({
      key: laneKey(lane),
      lane,
      slices: (slices.get(lane.id) ?? []).sort((a, b) => a.start_ns - b.start_ns || a.end_ns - b.end_ns),
    }));
}

/** Index of the first slice that ends after a time; slices are sorted by start. */
export function firstEndingAfter(slices: readonly TimelineSlice[], ns: number): number {
  let low = 0;
  let high = slices.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((slices[middle]?.end_ns ?? Infinity) > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The slice under a time, else the nearest within a tolerance (short ones are hard to hit). */
export function sliceAt(slices: readonly TimelineSlice[], ns: number, toleranceNs: number): TimelineSlice | null {
  const at = firstEndingAfter(slices, ns);
  const here = slices[at];
  if (here !== undefined && here.start_ns <= ns) return here;
  const before = slices[at - 1];
  const left = before === undefined ? Infinity : ns - before.end_ns;
  const right = here === undefined ? Infinity : here.start_ns - ns;
  if (Math.min(left, right) > toleranceNs) return null;
  return left <= right ? (before ?? null) : (here ?? null);
}

/** The slice a step to the left or right of a time, for the keyboard. */
export function stepFrom(slices: readonly TimelineSlice[], at: TimelineSlice | null, step: 1 | -1): TimelineSlice | null {
  if (at === null) return slices[step > 0 ? 0 : slices.length - 1] ?? null;
  const index = slices.indexOf(at);
  if (index >= 0) return slices[index + step] ?? at;
  return sliceAt(slices, at.start_ns, Infinity);
}

export interface Selected {
  readonly pass: number | null;
  readonly layer: number | null;
}

/** Whether a slice belongs to what is selected; nothing is selected: everything does. */
export function isOfSelection(slice: TimelineSlice, selected: Selected): boolean {
  if (selected.pass !== null && slice.pass !== null && slice.pass !== selected.pass) return false;
  if (selected.pass !== null && slice.pass === null) return false;
  return selected.layer === null || slice.layer === selected.layer || isWhole(slice);
}

/** Passes and steps have no layer: a selected layer is inside them. */
function isWhole(slice: TimelineSlice): boolean {
  return slice.layer === null && slice.pass !== null && slice.category === null;
}
