/** What the tab computes from a document and a selection, each piece once a change. */
import { classify, POINT_CLASSES, type PointClass } from './classes';
import { extent } from './axis';
import type { Workload, WorkloadRequest } from './model';
import {
  contains,
  isEmpty,
  DIMENSION_NAMES,
  flightExtent,
  mask,
  matches,
  valueOf,
  type Dimension,
  type Range,
  type Ranges,
} from './selection';

/** Of the document alone. */
export interface Shape {
  readonly classes: readonly PointClass[];
  readonly counts: Readonly<Record<PointClass, number>>;
  readonly failed: Uint8Array;
  readonly values: Readonly<Record<'input' | 'ttft' | 'output' | 'decode', Float64Array>>;
  readonly limits: Readonly<Record<Dimension, readonly [number, number] | null>>;
  readonly positionOf: ReadonlyMap<number, number>;
}

function column(requests: readonly WorkloadRequest[], dimension: Exclude<Dimension, 'time'>): Float64Array {
  return Float64Array.from(requests, (request) => valueOf(request, dimension) ?? Number.NaN);
}

export function shapeOf(workload: Workload): Shape {
  const { requests } = workload;
  const classes = requests.map((request) => classify(request, workload.queue_threshold_ns, workload.threshold_of));
  const counts = Object.fromEntries(
    POINT_CLASSES.map((kind) => [kind, classes.filter((of) => of === kind).length]),
  ) as Record<PointClass, number>;
  const limits = Object.fromEntries(
    DIMENSION_NAMES.map((name) => [
      name,
      name === 'time' ? flightExtent(requests) : extent(column(requests, name)),
    ]),
  ) as Record<Dimension, [number, number] | null>;
  return {
    classes,
    counts,
    failed: mask(requests, (request) => !request.ok),
    values: {
      input: column(requests, 'input'),
      ttft: column(requests, 'ttft'),
      output: column(requests, 'output'),
      decode: column(requests, 'decode'),
    },
    limits,
    positionOf: new Map(requests.map((request, position) => [request.index, position])),
  };
}

/** What the filter shows; it stays the same object while a selection moves. */
export interface Shown {
  /** 1 = passes the input-token filter. */
  readonly shown: Uint8Array;
  readonly shownCount: number;
}

/** Of the document, the filter and the selection. */
export interface View extends Shown {
  /** 1 = shown and inside all ranges; null without any range. */
  readonly selected: Uint8Array | null;
  readonly selectedCount: number;
}

function count(marks: Uint8Array): number {
  return marks.reduce((sum, mark) => sum + mark, 0);
}

export function shownOf(requests: readonly WorkloadRequest[], filter: Range | undefined): Shown {
  const shown = mask(requests, (request) => filter === undefined || contains(filter, request.input_tokens));
  return { shown, shownCount: count(shown) };
}

export function viewOf(requests: readonly WorkloadRequest[], { shown, shownCount }: Shown, ranges: Ranges): View {
  const selected = isEmpty(ranges)
    ? null
    : mask(requests, (request, position) => shown[position] === 1 && matches(request, ranges));
  return { shown, shownCount, selected, selectedCount: selected === null ? 0 : count(selected) };
}

/** Positions that a mask marks. */
export function positionsOf(marks: Uint8Array): number[] {
  const out: number[] = [];
  marks.forEach((mark, position) => {
    if (mark === 1) out.push(position);
  });
  return out;
}
