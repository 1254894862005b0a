import type { WorkloadRequest } from './model';

/** How a request is drawn: by colour and by shape. */
export type PointClass = 'direct' | 'queued' | 'unknown' | 'failed';

/** In the order in which they are drawn: what matters most lies on top. */
export const POINT_CLASSES: readonly PointClass[] = ['unknown', 'direct', 'queued', 'failed'];

/** A request is queued when its time lies above the threshold that the document gives. */
export function classify(
  request: WorkloadRequest,
  threshold_ns: number | null,
  of: 'ttft_ns' | 'queue_ns',
): PointClass {
  if (!request.ok) return 'failed';
  const time = request[of];
  if (time === null || threshold_ns === null) return 'unknown';
  return time > threshold_ns ? 'queued' : 'direct';
}
