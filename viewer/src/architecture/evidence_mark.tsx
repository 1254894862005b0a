import type { JSX } from 'preact';
import { ns, share } from '../ui/format';
import { EVIDENCE_ORDER, evidenceColor, evidenceSays, words } from '../ui/palette';
import { visibleText } from '../ui/visible_text';

interface EvidenceProps {
  readonly evidence: Readonly<Record<string, number>>;
}

interface Class {
  readonly name: string;
  readonly ns: number;
}

function classesOf(evidence: EvidenceProps['evidence']): Class[] {
  const place = (name: string): number => (EVIDENCE_ORDER.indexOf(name) + 100) % 100;
  return Object.entries(evidence)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => ({ name, ns: value }))
    .sort((a, b) => place(a.name) - place(b.name));
}

/** No two classes begin with the same one. */
function letterOf(name: string): string {
  return visibleText(words(name)).charAt(0).toUpperCase();
}

/** How the time came to this place: the classes by share, strongest first, with their names. */
export function EvidenceBar({ evidence }: EvidenceProps): JSX.Element | null {
  const classes = classesOf(evidence);
  const total = classes.reduce((sum, entry) => sum + entry.ns, 0);
  if (total === 0) return null;
  return (
    <div class="arch-evidence">
      <div class="arch-evidence-bar" aria-hidden="true">
        {classes.map((entry) => (
          <span key={entry.name} style={{ flexGrow: entry.ns / total, background: evidenceColor(entry.name) }} />
        ))}
      </div>
      <ul>
        {classes.map((entry) => (
          <li key={entry.name}>
            <span class="arch-evidence-dot" style={{ '--dot-color': evidenceColor(entry.name) }} aria-hidden="true">
              {letterOf(entry.name)}
            </span>
            {visibleText(words(entry.name))} <strong>{share(entry.ns, total)}</strong>
            <span class="arch-quiet">{visibleText(evidenceSays(entry.name))}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The same in a word: the class with the most time, for a line of a list. */
export function evidenceText(evidence: EvidenceProps['evidence']): string {
  const classes = classesOf(evidence);
  const total = classes.reduce((sum, entry) => sum + entry.ns, 0);
  return classes.map((entry) => `${visibleText(words(entry.name))} ${share(entry.ns, total)} (${ns(entry.ns)})`).join(', ');
}

/** A dot of the class with the most time, filled as far as it goes. */
export function EvidenceDot({ evidence }: EvidenceProps): JSX.Element {
  const classes = classesOf(evidence);
  const best = [...classes].sort((a, b) => b.ns - a.ns)[0];
  const letter = best === undefined ? '–' : letterOf(best.name);
  const mixed = classes.length > 1;
  return (
    <span
      class={`arch-evidence-dot ${mixed ? 'mixed' : ''}`}
      style={{ '--dot-color': best === undefined ? 'transparent' : evidenceColor(best.name) }}
      role="img"
      aria-label={best === undefined ? 'no evidence' : `evidence: ${evidenceText(evidence)}`}
    >
      {letter}
    </span>
  );
}
