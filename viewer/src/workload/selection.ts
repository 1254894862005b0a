/**
 * What is selected: a range a quantity. A brush sets the ranges of its two axes, the range fields set
 * one each; a request is selected when it lies inside all of them.
 */
import type { WorkloadRequest } from './model';

export type Dimension = 'input' | 'output' | 'ttft' | 'decode' | 'queue' | 'time';

/** Both ends belong to it. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

export type Ranges = Readonly<Partial<Record<Dimension, Range>>>;

export interface DimensionInfo {
  readonly label: string;
  /** Where there is little room. */
  readonly short: string;
  readonly unit: 'tokens' | 'ns';
}

export const DIMENSIONS: Readonly<Record<Dimension, DimensionInfo>> = {
  input: { label: 'Input tokens', short: 'Input', unit: 'tokens' },
  ttft: { label: 'TTFT', short: 'TTFT', unit: 'ns' },
  output: { label: 'Output tokens', short: 'Output', unit: 'tokens' },
  decode: { label: 'Decode time', short: 'Decode', unit: 'ns' },
  queue: { label: 'Queue time', short: 'Queue', unit: 'ns' },
  time: { label: 'In flight', short: 'In flight', unit: 'ns' },
};

export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as readonly Dimension[];

/** The value of a quantity; `time` is an interval and has none. */
export function valueOf(request: WorkloadRequest, dimension: Exclude<Dimension, 'time'>): number | null {
  switch (dimension) {
    case 'input':
      return request.input_tokens;
    case 'output':
      return request.output_tokens;
    case 'ttft':
      return request.ttft_ns;
    case 'decode':
      return request.decode_ns;
    case 'queue':
      return request.queue_ns;
  }
}

export function contains(range: Range, value: number | null): boolean {
  return value !== null && value >= range.low && value <= range.high;
}

/** From the start to the last token; a request without an end is a point. What it waited before is not in flight. */
function flightOf(request: WorkloadRequest): Range | null {
  const { start_ns } = request;
  return start_ns === null ? null : { low: start_ns, high: start_ns + (request.e2e_ns ?? request.ttft_ns ?? 0) };
}

function inFlight(request: WorkloadRequest, range: Range): boolean {
  const flight = flightOf(request);
  return flight !== null && flight.low <= range.high && flight.high >= range.low;
}

/** When the first request is in flight and when the last one ends. */
export function flightExtent(requests: readonly WorkloadRequest[]): [number, number] | null {
  const flights = requests.map(flightOf).filter((flight) => flight !== null);
  if (flights.length === 0) return null;
  return flights.reduce<[number, number]>(
    ([low, high], flight) => [Math.min(low, flight.low), Math.max(high, flight.high)],
    [Infinity, -Infinity],
  );
}

export function matches(request: WorkloadRequest, ranges: Ranges): boolean {
  for (const dimension of DIMENSION_NAMES) {
    const range = ranges[dimension];
    if (range === undefined) continue;
    const inside =
      dimension === 'time' ? inFlight(request, range) : contains(range, valueOf(request, dimension));
    if (!inside) return false;
  }
  return true;
}

export function isEmpty(ranges: Ranges): boolean {
  return DIMENSION_NAMES.every((dimension) => ranges[dimension] === undefined);
}

/** `ranges` with some of them replaced; null takes one away. */
export function withRanges(
  ranges: Ranges,
  changes: Readonly<Partial<Record<Dimension, Range | null>>>,
): Ranges {
  const out: Partial<Record<Dimension, Range>> = {};
  for (const dimension of DIMENSION_NAMES) {
    const range = dimension in changes ? changes[dimension] : ranges[dimension];
    if (range !== undefined && range !== null) out[dimension] = range;
  }
  return out;
}

/** A mark for each request: 1 = selected. */
export function mask(
  requests: readonly WorkloadRequest[],
  test: (request: WorkloadRequest, position: number) => boolean,
): Uint8Array {
  const out = new Uint8Array(requests.length);
  requests.forEach((request, position) => {
    if (test(request, position)) out[position] = 1;
  });
  return out;
}

/** `input:10..200,ttft:0..5000000`: short enough for a link, in ns and tokens. */
export function encodeRanges(ranges: Ranges): string {
  return DIMENSION_NAMES
    .flatMap((dimension) => {
      const range = ranges[dimension];
      return range === undefined ? [] : [`${dimension}:${range.low}..${range.high}`];
    })
    .join(',');
}

/** What is not understood is left out. */
export function decodeRanges(encoded: string): Ranges {
  const out: Partial<Record<Dimension, Range>> = {};
  for (const part of encoded.split(',')) {
    const found = /^([a-z]+):(-?[\d.e+]+)\.\.(-?[\d.e+]+)$/.exec(part);
    const dimension = DIMENSION_NAMES.find((name) => name === found?.[1]);
    const low = Number(found?.[2]);
    const high = Number(found?.[3]);
    if (dimension !== undefined && Number.isFinite(low) && Number.isFinite(high)) {
      out[dimension] = { low: Math.min(low, high), high: Math.max(low, high) };
    }
  }
  return out;
}
