import type { JSX } from 'preact';
import type { NsMap } from '../data/analyses';
import type { Coverage } from '../data/envelope';
import { share } from '../ui/format';
import { EVIDENCE_ORDER, evidenceColor, evidenceSays, words } from '../ui/palette';

/** Classes with time, strongest first; unresolved last. */
export function evidenceClasses(map: NsMap): readonly (readonly [name: string, ns: number])[] {
  const rank = (name: string): number => {
    const at = EVIDENCE_ORDER.indexOf(name);
    return at < 0 ? EVIDENCE_ORDER.length - 1.5 : at;
  };
  return Object.entries(map)
    .filter(([, ns]) => ns > 0)
    .sort(([a], [b]) => rank(a) - rank(b));
}

/** Shares of the evidence classes as one bar; what they are stands in its label. */
export function EvidenceBar({ map, total }: { map: NsMap; total: number }): JSX.Element {
  const classes = evidenceClasses(map);
  const label = classes.map(([name, ns]) => `${words(name)} ${share(ns, total)}`).join(', ');
  return (
    <span class="evidence-bar" role="img" aria-label={label === '' ? 'no evidence' : label}>
      {classes.map(([name, ns]) => (
        <span key={name} style={{ flexGrow: ns / Math.max(1, total), background: evidenceColor(name) }} />
      ))}
    </span>
  );
}

function EvidenceList({ title, map, total }: { title: string; map: NsMap; total: number }): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      <div class="evidence-list">
        {evidenceClasses(map).map(([name, ns]) => [
          <span key={`${name}.swatch`} class="swatch" style={{ background: evidenceColor(name) }} />,
          <span key={`${name}.name`}>{words(name)}</span>,
          <span key={`${name}.share`} class="right">
            {share(ns, total)}
          </span>,
          <span key={`${name}.says`} class="muted">
            {evidenceSays(name)}
          </span>,
        ])}
      </div>
    </section>
  );
}

/** How each part of the GPU time got its module and its layer. */
export function CoverageDetails({ coverage }: { coverage: Coverage }): JSX.Element {
  return (
    <>
      <EvidenceList title="How GPU time got its module" map={coverage.module} total={coverage.total_ns} />
      <EvidenceList title="How GPU time got its layer" map={coverage.layer} total={coverage.total_ns} />
    </>
  );
}
