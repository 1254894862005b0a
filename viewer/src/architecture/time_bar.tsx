import type { JSX } from 'preact';
import { ns, share } from '../ui/format';
import { heatColor, seriesColor } from '../ui/palette';
import { NameText } from '../ui/name_text';
import { composition } from './flow';
import type { ArchNode, Metric } from './model';

/** How much of a whole something is; its colour is its share of what it stands in. */
export function TimeBar({ part, whole, parent }: { part: number | null; whole: number | null; parent: number | null }): JSX.Element {
  const width = whole !== null && whole > 0 ? Math.min(1, (part ?? 0) / whole) : 0;
  const heat = parent !== null && parent > 0 ? Math.min(1, (part ?? 0) / parent) : width;
  return (
    <span class="arch-bar" aria-hidden="true">
      <span
        class="arch-bar-fill"
        style={{ width: `${(width * 100).toFixed(2)}%`, background: heatColor(heat), minWidth: width > 0 ? '2px' : '0' }}
      />
    </span>
  );
}

/** What a module's time is made of: one bar, its parts beside each other, and their names below. */
export function CompositionBar({ node, metric, member }: { node: ArchNode; metric: Metric; member: number | null }): JSX.Element | null {
  const { segments, restNs } = composition(node, metric, member);
  const whole = segments.reduce((sum, segment) => sum + segment.ns, 0) + restNs;
  if (segments.length < 2 || whole === 0) return null;
  return (
    <div class="arch-composition">
      <div class="arch-composition-bar" aria-hidden="true">
        {segments.map((segment, at) => (
          <span key={segment.node.id} style={{ flexGrow: segment.ns / whole, background: seriesColor(at) }} />
        ))}
        {restNs > 0 && <span class="arch-rest" style={{ flexGrow: restNs / whole }} />}
      </div>
      <ul class="arch-composition-names">
        {segments.map((segment, at) => (
          <li key={segment.node.id}>
            <span class="arch-swatch" style={{ background: seriesColor(at) }} aria-hidden="true" />
            <NameText text={segment.node.title} limit={40} /> <strong>{share(segment.ns, whole)}</strong>
            <span class="arch-quiet">{ns(segment.ns)}</span>
          </li>
        ))}
        {restNs > 0 && (
          <li>
            <span class="arch-swatch arch-rest" aria-hidden="true" />
            the rest <strong>{share(restNs, whole)}</strong>
          </li>
        )}
      </ul>
    </div>
  );
}
