/** workload_data.json as the tab uses it: read once, checked, so that nothing behind it has to ask again. */

/** One request; times in ns relative to the first request, null = not known. */
export interface WorkloadRequest {
  readonly index: number;
  readonly start_ns: number | null;
  readonly ttft_ns: number | null;
  /** Times between tokens, in order; empty when the benchmark did not record them. */
  readonly itl_ns: readonly number[];
  readonly tpot_ns: number | null;
  readonly decode_ns: number | null;
  readonly e2e_ns: number | null;
  /** How long the client held it back; it ends at `start_ns`. */
  readonly queue_ns: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly ok: boolean;
  readonly error: string | null;
  /** The engine steps of the trace that ran meanwhile; null when the document does not link them. */
  readonly steps: StepSpan | null;
}

export interface StepSpan {
  readonly first: number;
  readonly last: number;
  readonly n: number;
}

export interface ConcurrencyPoint {
  readonly t_ns: number;
  readonly n: number;
}

export interface WorkloadSource {
  readonly path: string;
  readonly kind: string;
  readonly version: string | null;
}

/** One run of the benchmark's file; a sweep has several, and `requests` are those of one. */
export interface WorkloadRun {
  readonly index: number;
  /** Place of its file among the document's sources. */
  readonly source: number | null;
  readonly label: string | null;
  readonly summary: Figures;
  /** What the file itself says, where the summary comes from its requests. */
  readonly file_summary: Figures | null;
  readonly comparison: readonly Comparison[];
}

/** A figure of the requests beside the file's own. */
export interface Comparison {
  readonly what: string;
  readonly ours: number | null;
  readonly file: number | null;
  readonly difference: number | null;
  readonly agrees: boolean;
}

export type Scalar = string | number | boolean | null;
export type Fields = Readonly<Record<string, Scalar>>;

/** A series of the server's metrics: one set of labels of one metric. */
export interface ServerSeries {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: Fields;
}

/** A figure that the benchmark and the server both have: "requests", "ttft.mean_ns". */
export interface Difference {
  readonly what: string;
  readonly metric: string | null;
  readonly bench: number | null;
  readonly server: number | null;
  readonly difference: number | null;
}

/** An object of the document that is read where it is shown. */
export type Figures = Readonly<Record<string, unknown>>;

export interface Workload {
  readonly schema: string;
  readonly sources: readonly WorkloadSource[];
  readonly model: Fields;
  readonly requests: readonly WorkloadRequest[];
  /** As it stands in the document. */
  readonly summary: Figures;
  readonly runs: readonly WorkloadRun[];
  /** Which of them the requests and the summary are of. */
  readonly run: number | null;
  readonly concurrency: readonly ConcurrencyPoint[];
  readonly server: readonly ServerSeries[];
  /** The server's figures by what they are for; empty where the document has none. */
  readonly server_summary: Figures;
  readonly differences: readonly Difference[];
  readonly queue_threshold_ns: number | null;
  /** What the threshold is of. */
  readonly threshold_of: 'ttft_ns' | 'queue_ns';
  /** Why requests are not linked to the steps of a trace; null when they are, or nothing is said. */
  readonly unlinked: string | null;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The scalars of an object; what is nested is left out. */
export function scalars(value: unknown): Fields {
  if (!isRecord(value)) return {};
  const out: Record<string, Scalar> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === null || typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean') {
      out[key] = item;
    }
  }
  return out;
}

function readSteps(value: unknown): StepSpan | null {
  if (!isRecord(value)) return null;
  const first = finite(value.first);
  const last = finite(value.last);
  return first === null || last === null ? null : { first, last, n: finite(value.n) ?? last - first + 1 };
}

function readRequest(value: unknown, position: number): WorkloadRequest {
  const row = isRecord(value) ? value : {};
  return {
    index: finite(row.index) ?? position,
    start_ns: finite(row.start_ns),
    ttft_ns: finite(row.ttft_ns),
    itl_ns: list(row.itl_ns).filter((item): item is number => finite(item) !== null),
    tpot_ns: finite(row.tpot_ns),
    decode_ns: finite(row.decode_ns),
    e2e_ns: finite(row.e2e_ns),
    queue_ns: finite(row.queue_ns),
    input_tokens: finite(row.input_tokens),
    output_tokens: finite(row.output_tokens),
    ok: row.ok !== false,
    error: text(row.error),
    steps: readSteps(row.steps),
  };
}

function readConcurrency(value: unknown): ConcurrencyPoint[] {
  const points: ConcurrencyPoint[] = [];
  for (const item of list(value)) {
    if (!isRecord(item)) continue;
    const t_ns = finite(item.t_ns);
    const n = finite(item.n);
    if (t_ns !== null && n !== null) points.push({ t_ns, n });
  }
  return points;
}

function readLabels(value: unknown): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, item] of Object.entries(scalars(value))) labels[key] = String(item);
  return labels;
}

/** One object a metric: a total, and where its labels differ a list of `series`. */
function readServer(value: unknown): ServerSeries[] {
  if (!isRecord(value)) return [];
  const series: ServerSeries[] = [];
  for (const [metric, entry] of Object.entries(value)) {
    const parts = isRecord(entry) && Array.isArray(entry.series) ? list(entry.series) : [entry];
    for (const item of parts) {
      if (!isRecord(item)) continue;
      series.push({ metric, labels: readLabels(item.labels), fields: scalars(item) });
    }
  }
  return series;
}

function readComparison(value: Figures): Comparison {
  return {
    what: text(value.what) ?? '',
    ours: finite(value.ours),
    file: finite(value.file),
    difference: finite(value.difference),
    agrees: value.agrees !== false,
  };
}

function readRun(value: Figures, position: number): WorkloadRun {
  return {
    index: finite(value.index) ?? position,
    source: finite(value.source),
    label: text(value.label),
    summary: isRecord(value.summary) ? value.summary : {},
    file_summary: isRecord(value.file_summary) ? value.file_summary : null,
    comparison: list(value.comparison).filter(isRecord).map(readComparison),
  };
}

function readDifference(value: Figures): Difference {
  return {
    what: text(value.what) ?? '',
    metric: text(value.metric),
    bench: finite(value.bench),
    server: finite(value.server),
    difference: finite(value.difference),
  };
}

/** Null when this is no workload document at all. */
export function readWorkload(value: unknown): Workload | null {
  if (!isRecord(value)) return null;
  const schema = text(value.schema) ?? '';
  if (!schema.startsWith('layerscope/workload/')) return null;
  return {
    schema,
    sources: list(value.sources).filter(isRecord).map((source) => ({
      path: text(source.path) ?? '',
      kind: text(source.kind) ?? '',
      version: text(source.version),
    })),
    model: scalars(value.model),
    requests: list(value.requests).map(readRequest),
    summary: isRecord(value.summary) ? value.summary : {},
    runs: list(value.runs).filter(isRecord).map(readRun),
    run: finite(value.run),
    concurrency: readConcurrency(value.concurrency),
    server: readServer(value.server),
    server_summary: isRecord(value.server_summary) ? value.server_summary : {},
    differences: list(value.differences).filter(isRecord).map(readDifference),
    queue_threshold_ns: finite(value.queue_threshold_ns),
    threshold_of: isRecord(value.queue_split) && value.queue_split.of === 'queue_ns' ? 'queue_ns' : 'ttft_ns',
    unlinked: isRecord(value.links) ? text(value.links.reason) : null,
  };
}
