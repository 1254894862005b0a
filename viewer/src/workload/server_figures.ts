/** What the panel of the server shows: its main figures an instance, and what the dump lacks. */
import { finite, isRecord, type Figures, type ServerSeries } from './model';

export type FigureKind = 'share' | 'count' | 'tokens';

interface FigureRule {
  readonly id: string;
  /** What `server_summary` calls it. */
  readonly role: string;
  readonly label: string;
  readonly kind: FigureKind;
  readonly about: string;
}

/** In the order of the panel. Which metric of which engine each is, the document's `server_summary` says. */
export const FIGURE_RULES: readonly FigureRule[] = [
  {
    id: 'kv',
    role: 'kv_cache_usage',
    label: 'KV cache usage',
    kind: 'share',
    about: 'Part of the KV cache in use when the metrics were read',
  },
  {
    id: 'preemptions',
    role: 'preemptions',
    label: 'Preemptions',
    kind: 'count',
    about: 'Requests that lost their KV cache and had to start again',
  },
  {
    id: 'running',
    role: 'running',
    label: 'Running',
    kind: 'count',
    about: 'Requests in the batch when the metrics were read',
  },
  {
    id: 'waiting',
    role: 'waiting',
    label: 'Waiting',
    kind: 'count',
    about: 'Requests in the queue when the metrics were read',
  },
  {
    id: 'prompt',
    role: 'prompt_tokens',
    label: 'Prompt tokens',
    kind: 'tokens',
    about: 'Prompt tokens processed',
  },
  {
    id: 'generation',
    role: 'generation_tokens',
    label: 'Generated tokens',
    kind: 'tokens',
    about: 'Tokens generated',
  },
];

/** A model on an engine: what the figures are kept apart by. */
export interface Instance {
  readonly name: string;
  readonly series: readonly ServerSeries[];
}

const INSTANCE_LABELS = ['model_name', 'engine', 'engine_type', 'dp_rank', 'pp_rank', 'tp_rank'] as const;

/** `tinyqwen3 · engine 0`; '' for series that name no model or engine. */
export function instanceName(labels: Readonly<Record<string, string>>): string {
  return INSTANCE_LABELS.flatMap((name) => {
    const value = labels[name];
    if (value === undefined || value === '') return [];
    return [name === 'model_name' ? value : `${name.replace('_', ' ')} ${value}`];
  }).join(' · ');
}

/** Series by instance, in order of appearance; those without one come last. */
export function instancesOf(series: readonly ServerSeries[]): Instance[] {
  const groups = new Map<string, ServerSeries[]>();
  for (const one of series) {
    const name = instanceName(one.labels);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups]
    .map(([name, members]) => ({ name, series: members }))
    .sort((a, b) => Number(a.name === '') - Number(b.name === ''));
}

/** The number of a gauge or counter; of a histogram how many values it holds. */
export function seriesValue(series: ServerSeries): number | null {
  return finite(series.fields.value) ?? finite(series.fields.count);
}

function extraLabels(series: ServerSeries): number {
  return Object.keys(series.labels).filter((name) => !(INSTANCE_LABELS as readonly string[]).includes(name)).length;
}

/** Metrics by role, as the document's `server_summary` names them. */
export function namedMetrics(summary: Figures): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(summary).flatMap(([role, value]) =>
      isRecord(value) && typeof value.metric === 'string' ? [[role, value.metric] as const] : [],
    ),
  );
}

/** The instance's value of the metric that the document names; of several series the one with the fewest further labels. */
function find(instance: Instance, metric: string | undefined): { readonly metric: string; readonly value: number } | null {
  if (metric === undefined) return null;
  const found = instance.series.filter((series) => series.metric === metric).sort((a, b) => extraLabels(a) - extraLabels(b));
  for (const series of found) {
    const value = seriesValue(series);
    if (value !== null) return { metric, value };
  }
  return null;
}

export interface ServerFigure {
  readonly id: string;
  readonly label: string;
  readonly kind: FigureKind;
  readonly about: string;
  /** Null: the dump does not have it. */
  readonly value: number | null;
  readonly metric: string | null;
  /** Of how many, for a share that is computed here. */
  readonly of: number | null;
}

function prefixFigure(instance: Instance, named: ReadonlyMap<string, string>): ServerFigure {
  const hits = find(instance, named.get('prefix_cache_hits'));
  const queries = find(instance, named.get('prefix_cache_queries'));
  return {
    id: 'prefix',
    label: 'Prefix cache hits',
    kind: 'tokens',
    about: 'Prompt tokens found in the prefix cache, of those looked up',
    value: hits?.value ?? null,
    metric: hits?.metric ?? null,
    of: queries?.value ?? null,
  };
}

/** True where a dump has any of the panel's figures for it. */
export function hasFigures(instance: Instance, named: ReadonlyMap<string, string>): boolean {
  return figuresOfInstance(instance, named).some(({ value }) => value !== null);
}

export function figuresOfInstance(instance: Instance, named: ReadonlyMap<string, string>): ServerFigure[] {
  const figures = FIGURE_RULES.map(({ id, role, label, kind, about }): ServerFigure => {
    const found = find(instance, named.get(role));
    return { id, label, kind, about, value: found?.value ?? null, metric: found?.metric ?? null, of: null };
  });
  // Beside the preemptions: both say how well the KV cache serves.
  figures.splice(2, 0, prefixFigure(instance, named));
  return figures;
}
