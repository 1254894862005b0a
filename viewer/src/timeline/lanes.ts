import type { TimelineData, TimelineLane, TimelineSlice } from '../data/analyses';

/** A lane with its slices in order of time; they do not overlap but where a lane is of several streams. */
export interface Lane {
  readonly key: string;
  readonly lane: TimelineLane;
  readonly slices: readonly TimelineSlice[];
}

/** A lane of another answer is the same when it is of the same kind and place. */
export function laneKey(lane: TimelineLane): string {
  return [lane.kind, lane.rank, lane.pid, lane.device, lane.stream, lane.kind === 'stream' ? '' : lane.name].join('|');
}

/** Lanes in the order of the answer (by rank, process and device, steps first), each with its slices by start. */
export function lanesOf(data: TimelineData): readonly Lane[] {
  const slices = new Map<number, TimelineSlice[]>();
  for (const slice of data.slices ?? []) {
    const list = slices.get(slice.lane);
    if (list === undefined) slices.set(slice.lane, [slice]);
    else list.push(slice);
  }
  return (data.lanes ?? []).map((lane) => ({ key: laneKey(lane), lane, slices: slices.get(lane.id) ?? [] }));
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

/**
 * The slice a step to the left or right of one, for the keyboard. Where finer slices came meanwhile
 * it is not among them, and the step is from its start.
 */
export function stepFrom(slices: readonly TimelineSlice[], at: TimelineSlice | null, step: 1 | -1): TimelineSlice | null {
  if (at === null) return slices[step > 0 ? 0 : slices.length - 1] ?? null;
  const index = slices.indexOf(at);
  if (index >= 0) return slices[index + step] ?? at;
  if (step > 0) return slices.find((slice) => slice.start_ns > at.start_ns) ?? slices[slices.length - 1] ?? null;
  return slices.findLast((slice) => slice.start_ns < at.start_ns) ?? slices[0] ?? null;
}

/** Distinct values of lanes that say one; a label that all share tells nothing. */
function tells(values: readonly (number | string | null)[]): boolean {
  return new Set(values.filter((value) => value !== null)).size > 1;
}

/** What stands before the names of lanes, so that no two of them are alike: rank, process and device where they differ. */
export function lanePlaces(lanes: readonly TimelineLane[]): readonly string[] {
  const byRank = tells(lanes.map((lane) => lane.rank));
  // A rank is a process; without ranks only its number tells it apart.
  const byPid = tells(lanes.map((lane) => lane.pid)) && !(byRank && lanes.every((lane) => lane.pid === null || lane.rank !== null));
  const byDevice = tells(lanes.map((lane) => lane.device));
  return lanes.map((lane) =>
    [
      byRank && lane.rank !== null ? `rank ${lane.rank}` : null,
      byPid && lane.pid !== null ? `pid ${lane.pid}` : null,
      byDevice && lane.device !== null ? `dev ${lane.device}` : null,
    ]
      .filter((part) => part !== null)
      .join(' '),
  );
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
