/** What the panel of the server shows: its main figures an instance, and what the dump lacks. */
import { finite, isRecord, type Figures, type ServerSeries } from './model';

export type FigureKind = 'share' | 'count' | 'tokens';

interface FigureRule {
  readonly id: string;
  /** What `server_summary` calls it. */
  readonly role: string;
  readonly label: string;
  readonly kind: FigureKind;
  /** Names of the metric in vLLM and SGLang, over their versions. */
  readonly names: RegExp;
  readonly about: string;
}

/** In the order of the panel. Names: vllm/v1/metrics/loggers.py and sglang/srt/metrics/collector.py. */
export const FIGURE_RULES: readonly FigureRule[] = [
  {
    id: 'kv',
    role: 'kv_cache_usage',
    label: 'KV cache usage',
    kind: 'share',
    names: /(^|:)(kv_cache_usage_perc|gpu_cache_usage_perc|token_usage)$/,
    about: 'Part of the KV cache in use when the metrics were read',
  },
  {
    id: 'preemptions',
    role: 'preemptions',
    label: 'Preemptions',
    kind: 'count',
    names: /(^|:)(num_preemptions(_total)?|num_retracted_reqs?(_total)?)$/,
    about: 'Requests that lost their KV cache and had to start again',
  },
  {
    id: 'running',
    role: 'running',
    label: 'Running',
    kind: 'count',
    names: /(^|:)(num_requests_running|num_running_reqs)$/,
    about: 'Requests in the batch when the metrics were read',
  },
  {
    id: 'waiting',
    role: 'waiting',
    label: 'Waiting',
    kind: 'count',
    names: /(^|:)(num_requests_waiting|num_queue_reqs)$/,
    about: 'Requests in the queue when the metrics were read',
  },
  {
    id: 'prompt',
    role: 'prompt_tokens',
    label: 'Prompt tokens',
    kind: 'tokens',
    names: /(^|:)prompt_tokens(_total)?$/,
    about: 'Prompt tokens processed',
  },
  {
    id: 'generation',
    role: 'generation_tokens',
    label: 'Generated tokens',
    kind: 'tokens',
    names: /(^|:)generation_tokens(_total)?$/,
    about: 'Tokens generated',
  },
];

const PREFIX_HITS = /(^|:)((gpu_)?prefix_cache_hits(_total)?|cached_tokens(_total)?)$/;
const PREFIX_QUERIES = /(^|:)(gpu_)?prefix_cache_queries(_total)?$/;
const PREFIX_RATE = /(^|:)(gpu_prefix_cache_hit_rate|cache_hit_rate)$/;

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
  return finite(series.fields.value) ?? finite(series.fields.delta) ?? finite(series.fields.count);
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

/**
 * The instance's value of a metric: of the one that the document names, else of one of the known names. Of
 * several series the one with the fewest further labels.
 */
function find(
  instance: Instance,
  names: RegExp,
  named: string | undefined,
): { readonly metric: string; readonly value: number } | null {
  const found = instance.series
    .filter(({ metric }) => (named === undefined ? names.test(metric) : metric === named))
    .sort((a, b) => extraLabels(a) - extraLabels(b));
  for (const series of found) {
    const value = seriesValue(series);
    if (value !== null) return { metric: series.metric, value };
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
  const rate = find(instance, PREFIX_RATE, undefined);
  const hits = find(instance, PREFIX_HITS, named.get('prefix_cache_hits'));
  const queries = find(instance, PREFIX_QUERIES, named.get('prefix_cache_queries'));
  const base = {
    id: 'prefix',
    label: 'Prefix cache hits',
    about: 'Prompt tokens found in the prefix cache, of those looked up',
  };
  if (hits !== null) return { ...base, kind: 'tokens', value: hits.value, metric: hits.metric, of: queries?.value ?? null };
  return { ...base, kind: 'share', value: rate?.value ?? null, metric: rate?.metric ?? null, of: null };
}

/** True where a dump has any of the panel's figures for it. */
export function hasFigures(instance: Instance, named: ReadonlyMap<string, string>): boolean {
  return figuresOfInstance(instance, named).some(({ value }) => value !== null);
}

export function figuresOfInstance(instance: Instance, named: ReadonlyMap<string, string>): ServerFigure[] {
  const figures = FIGURE_RULES.map(({ id, role, label, kind, names, about }): ServerFigure => {
    const found = find(instance, names, named.get(role));
    return { id, label, kind, about, value: found?.value ?? null, metric: found?.metric ?? null, of: null };
  });
  // Beside the preemptions: both say how well the KV cache serves.
  figures.splice(2, 0, prefixFigure(instance, named));
  return figures;
}
