/** The percentile table: what the document says of each quantity, from each of its sources. */
import { finite, isRecord, type Figures, type Workload, type WorkloadRequest } from './model';
import { distribution } from './stats';

export const QUANTITIES = ['ttft', 'tpot', 'itl', 'e2e', 'queue'] as const;
export type Quantity = (typeof QUANTITIES)[number];

const LABELS: Readonly<Record<string, string>> = {
  ttft: 'TTFT',
  tpot: 'TPOT',
  itl: 'ITL',
  e2e: 'End to end',
  queue: 'Queue',
};

const HINTS: Readonly<Record<string, string>> = {
  ttft: 'Time to first token',
  tpot: 'Time per output token after the first, a request',
  itl: 'Time between two tokens, over all tokens',
  e2e: 'From the start of a request to its last token',
  queue: 'How long the client held a request back before sending it',
};

export function quantityLabel(quantity: string): string {
  return LABELS[quantity] ?? quantity.replaceAll('_', ' ');
}

export function quantityHint(quantity: string): string {
  return HINTS[quantity] ?? 'Given by the benchmark alone';
}

export const STATISTICS = ['mean', 'std', 'p50', 'p90', 'p95', 'p99'] as const;
export type Statistic = (typeof STATISTICS)[number];

/** In ns; null: not known. */
export type Statistics = Readonly<Record<Statistic, number | null>>;

function statistics(of: (name: Statistic) => number | null): Statistics {
  return { mean: of('mean'), std: of('std'), p50: of('p50'), p90: of('p90'), p95: of('p95'), p99: of('p99') };
}

/** `{mean_ns, std_ns, p50_ns, …}`; null when it holds none of them. */
export function readStatistics(value: unknown): Statistics | null {
  if (!isRecord(value)) return null;
  const read = statistics((name) => finite(value[`${name}_ns`]));
  return STATISTICS.some((name) => read[name] !== null) ? read : null;
}

/** The usual quantities, then others that a summary has times of. */
export function quantitiesOf(summary: Figures): readonly string[] {
  const usual: readonly string[] = QUANTITIES;
  const others = Object.keys(summary).filter((key) => !usual.includes(key) && readStatistics(summary[key]) !== null);
  return [...usual, ...others];
}

/** How `layerscope workload` says that a percentile is no estimate but a limit. */
export type Bound = 'at_most' | 'at_least';

/** Figures from one source, by quantity. */
export interface FigureSet {
  readonly name: string;
  readonly hint: string;
  readonly figures: Readonly<Record<string, Statistics | null>>;
  /** How far the document's requests are from it: "ttft.p99_ns" → ns. Empty where it does not compare. */
  readonly deltas: ReadonlyMap<string, number>;
  /** Percentiles of which only a limit is known, "queue.p50_ns": the figure is that limit. */
  readonly bounds: ReadonlyMap<string, Bound>;
  /** "ttft.p50_ns": read from between the bounds of a bucket, so that only the bucket is known. */
  readonly isEstimate: (figure: string) => boolean;
  /** Quantities whose figures all agree with those of the requests. */
  readonly agreeing: ReadonlySet<string>;
}

function figuresIn(summary: Figures, quantities: readonly string[]): FigureSet['figures'] {
  return Object.fromEntries(quantities.map((quantity) => [quantity, readStatistics(summary[quantity])]));
}

const NO_DELTAS: Pick<FigureSet, 'deltas' | 'bounds' | 'isEstimate' | 'agreeing'> = {
  deltas: new Map(),
  bounds: new Map(),
  isEstimate: () => false,
  agreeing: new Set(),
};

/** What the benchmark's file says itself, where the document's figures come from its requests. */
function fileSet(workload: Workload, quantities: readonly string[]): FigureSet | null {
  const run = workload.runs.find(({ index }) => index === workload.run);
  if (run === undefined || run.file_summary === null) return null;
  const deltas = new Map<string, number>();
  const agreeing = new Set(run.comparison.map(({ what }) => what.split('.')[0] ?? ''));
  for (const { what, difference, agrees } of run.comparison) {
    if (agrees) continue;
    agreeing.delete(what.split('.')[0] ?? '');
    if (difference !== null) deltas.set(what, difference);
  }
  return {
    name: 'file',
    hint: "The benchmark's own figures, as its file gives them",
    figures: figuresIn(run.file_summary, quantities),
    ...NO_DELTAS,
    deltas,
    agreeing,
  };
}

/** Which of the server's percentiles are limits, as the document says. */
function boundsIn(summary: Figures, quantities: readonly string[]): Map<string, Bound> {
  const bounds = new Map<string, Bound>();
  for (const quantity of quantities) {
    const of = summary[quantity];
    const said = isRecord(of) && isRecord(of.quantile_bounds) ? of.quantile_bounds : {};
    for (const [name, bound] of Object.entries(said)) {
      if (bound === 'at_most' || bound === 'at_least') bounds.set(`${quantity}.${name}`, bound);
    }
  }
  return bounds;
}

function serverSet(workload: Workload, quantities: readonly string[]): FigureSet | null {
  const figures = figuresIn(workload.server_summary, quantities);
  if (Object.values(figures).every((one) => one === null)) return null;
  return {
    name: 'server',
    hint: "The server's own figures; percentiles (≈) are estimates inside of a bucket of its histograms",
    figures,
    ...NO_DELTAS,
    isEstimate: (figure) => /\.p\d+_ns$/.test(figure),
    bounds: boundsIn(workload.server_summary, quantities),
    deltas: new Map(
      workload.differences.flatMap(({ what, difference }) => (difference === null ? [] : [[what, difference] as const])),
    ),
  };
}

/** The document's own figures first, then those that it compares them with. */
export function documentSets(workload: Workload): FigureSet[] {
  const quantities = quantitiesOf(workload.summary);
  const fromFile = workload.summary.from === 'file';
  const own: FigureSet = {
    name: fromFile ? 'file' : 'requests',
    hint: fromFile
      ? "The benchmark's own figures: its file holds no single requests"
      : 'Over all completed requests',
    figures: figuresIn(workload.summary, quantities),
    ...NO_DELTAS,
  };
  const others = [fromFile ? null : fileSet(workload, quantities), serverSet(workload, quantities)];
  return [own, ...others.filter((set): set is FigureSet => set !== null)];
}

function valuesOf(request: WorkloadRequest, quantity: Quantity): readonly number[] {
  if (quantity === 'itl') return request.itl_ns;
  const value = request[`${quantity}_ns`];
  return value === null ? [] : [value];
}

/** Over the marked requests, computed here; failed requests count in none. */
export function statisticsOf(
  requests: readonly WorkloadRequest[],
  marks: Uint8Array,
  quantity: Quantity,
): Statistics | null {
  const values: number[] = [];
  requests.forEach((request, position) => {
    if (marks[position] !== 1 || !request.ok) return;
    for (const value of valuesOf(request, quantity)) values.push(value);
  });
  return distribution(values);
}

/** The same figures over a part of the requests. */
export function partSet(requests: readonly WorkloadRequest[], marks: Uint8Array, name: string): FigureSet {
  return {
    name,
    hint: `Over the completed ones of the ${name} requests, computed here (linear interpolation)`,
    figures: Object.fromEntries(QUANTITIES.map((quantity) => [quantity, statisticsOf(requests, marks, quantity)])),
    ...NO_DELTAS,
  };
}
