/** The request chart: one row a request in order of start, its phases as stretches of time. */
import type { WorkloadRequest } from './model';

export type Phase = 'queue' | 'prefill' | 'decode' | 'whole';

export interface Stretch {
  readonly phase: Phase;
  readonly start_ns: number;
  readonly end_ns: number;
}

/**
 * The wait ends where the request starts, prefill ends at the first token, decode at the last.
 * A request that knows its end but not its first token is one stretch.
 */
export function phasesOf(request: WorkloadRequest): Stretch[] {
  const start = request.start_ns;
  if (start === null) return [];
  const out: Stretch[] = [];
  if (request.queue_ns !== null && request.queue_ns > 0) {
    out.push({ phase: 'queue', start_ns: start - request.queue_ns, end_ns: start });
  }
  const end = request.e2e_ns === null ? null : start + request.e2e_ns;
  if (request.ttft_ns !== null && request.ttft_ns > 0) {
    const first = start + request.ttft_ns;
    out.push({ phase: 'prefill', start_ns: start, end_ns: first });
    const last = end ?? (request.decode_ns === null ? first : first + request.decode_ns);
    if (last > first) out.push({ phase: 'decode', start_ns: first, end_ns: last });
  } else if (end !== null && end > start) {
    out.push({ phase: 'whole', start_ns: start, end_ns: end });
  }
  return out;
}

/** Positions of the requests with a start that `keep` marks, by start, then in order of the file. */
export function ganttOrder(requests: readonly WorkloadRequest[], keep: Uint8Array): number[] {
  const order: number[] = [];
  requests.forEach((request, position) => {
    if (request.start_ns !== null && keep[position] === 1) order.push(position);
  });
  const start = (position: number): number => requests[position]?.start_ns ?? 0;
  return order.sort((a, b) => start(a) - start(b) || a - b);
}

/** From the first wait to the last token; null when no request has a start. */
export function ganttExtent(requests: readonly WorkloadRequest[]): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const request of requests) {
    if (request.start_ns === null) continue;
    low = Math.min(low, request.start_ns - Math.max(0, request.queue_ns ?? 0));
    high = Math.max(high, request.start_ns + (request.e2e_ns ?? request.ttft_ns ?? 0));
  }
  return low <= high ? [low, high] : null;
}

/** Rows of `row_px` that a window of `height` at `top` shows: [first, behind the last). */
export function visibleRows(count: number, row_px: number, top: number, height: number): [number, number] {
  const first = Math.max(0, Math.min(count, Math.floor(top / row_px)));
  return [first, Math.max(first, Math.min(count, Math.ceil((top + height) / row_px)))];
}

/** Where `top` must be for row `row` to be seen; unchanged when it already is. */
export function scrollToRow(row: number, row_px: number, top: number, height: number): number {
  const start = row * row_px;
  if (start < top) return start;
  if (start + row_px > top + height) return start + row_px - height;
  return top;
}
