import type { Pass, Step } from '../data/analyses';

/** A pass or step that has a column of its own. */
export interface Typical {
  readonly kind: 'pass' | 'step';
  readonly index: number;
  readonly labels: readonly string[];
  readonly phase: string;
  readonly wall_ns: number;
  readonly start_ns: number | null;
}

interface Candidate {
  readonly index: number;
  readonly phase: string;
  readonly wall_ns: number;
  readonly start_ns: number | null;
}

const QUANTILES = [
  ['Fast', 0.1],
  ['Typical', 0.5],
  ['Slow', 0.9],
] as const;

/** The phase that most have; of two with as many the one that comes first. */
function commonest(all: readonly Candidate[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { phase } of all) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].reduce<[string, number] | undefined>((best, entry) => (best === undefined || entry[1] > best[1] ? entry : best), undefined)?.[0];
}

function pick(all: readonly Candidate[], kind: Typical['kind']): readonly Typical[] {
  const phase = commonest(all);
  const sorted = all
    .filter((candidate) => candidate.phase === phase)
    .sort((a, b) => a.wall_ns - b.wall_ns || a.index - b.index);
  const found = new Map<number, Typical>();
  for (const [label, q] of QUANTILES) {
    const candidate = sorted[Math.floor(q * (sorted.length - 1) + 0.5)];
    if (candidate === undefined) continue;
    const labels = [...(found.get(candidate.index)?.labels ?? []), label];
    found.set(candidate.index, { ...candidate, kind, labels });
  }
  return [...found.values()];
}

/**
 * The fast (10 %), typical (50 %) and slow (90 %) pass by wall time, of the whole passes of the
 * commonest kind; of steps where there are no passes. The same rule chooses what a report holds.
 */
export function threePasses(passes: readonly Pass[], steps: readonly Step[]): readonly Typical[] {
  const whole = passes.flatMap((pass): Candidate[] =>
    pass.complete && pass.wall_ns !== null
      ? [{ index: pass.index, phase: pass.kind, wall_ns: pass.wall_ns, start_ns: pass.start_ns }]
      : [],
  );
  if (whole.length > 0) return pick(whole, 'pass');
  const timed = steps.flatMap((step): Candidate[] =>
    step.wall_ns === null ? [] : [{ index: step.index, phase: step.phase ?? 'unknown', wall_ns: step.wall_ns, start_ns: step.start_ns }],
  );
  return pick(timed, 'step');
}
