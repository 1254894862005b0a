import type { JSX } from 'preact';
import { count, ns } from '../ui/format';
import type { PointClass } from './classes';
import { shapePath } from './sprites';

/** How the classes are called and drawn outside the plots. */
export const CLASS_MARKS: Readonly<Record<PointClass, { readonly name: string; readonly path: string }>> = {
  direct: { name: 'Below threshold', path: shapePath('direct', 4) },
  queued: { name: 'Above threshold', path: shapePath('queued', 4) },
  unknown: { name: 'Completed', path: shapePath('unknown', 4) },
  failed: { name: 'Failed', path: shapePath('failed', 3.5) },
};

/** Shape, colour and word of a class. */
export function ClassMark({ kind, label }: { readonly kind: PointClass; readonly label?: string }): JSX.Element {
  return (
    <span class={`wl-mark wl-mark-${kind}`}>
      <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">
        <path d={CLASS_MARKS[kind].path} />
      </svg>
      {label ?? CLASS_MARKS[kind].name}
    </span>
  );
}

const ABOUT =
  'Where times to first token fall into two groups, the point between them: requests above it had to wait for others';

export interface LegendProps {
  readonly counts: Readonly<Record<PointClass, number>>;
  readonly threshold_ns: number | null;
  readonly of: 'ttft_ns' | 'queue_ns';
}

/** What colours and shapes mean, with the threshold and how many requests each has. */
export function Legend({ counts, threshold_ns, of }: LegendProps): JSX.Element {
  const what = of === 'ttft_ns' ? 'TTFT' : 'Queue time';
  const limit = ns(threshold_ns);
  const entries: readonly (readonly [PointClass, string])[] = [
    ['direct', `${what} ≤ ${limit}`],
    ['queued', `${what} > ${limit}`],
    ['unknown', threshold_ns === null ? 'Completed' : `${what} not recorded`],
    ['failed', 'Failed'],
  ];
  return (
    <ul class="wl-legend" aria-label="Colours of the points">
      <li class="wl-legend-title" title={ABOUT}>
        {threshold_ns === null ? 'No queue threshold: TTFTs do not fall into two groups' : 'Queue threshold'}
      </li>
      {entries
        .filter(([kind]) => counts[kind] > 0)
        .map(([kind, label]) => (
          <li key={kind} data-class={kind}>
            <ClassMark kind={kind} label={label} />
            <span class="wl-count">{count(counts[kind])}</span>
          </li>
        ))}
    </ul>
  );
}
