import type { Envelope } from './envelope';

/** `data` of the verbs that the app reads (docs/schema/VERB.schema.json has every key). */
export type NsMap = Readonly<Record<string, number>>;

export interface Abstained {
  readonly code: string;
  readonly why: string;
  readonly how: string;
}

/** Where an activity, pass or module ran. */
export interface Place {
  readonly device: number | string | null;
  readonly rank: number | null;
  readonly pid: number | string | null;
}

export interface ModuleNode extends Place {
  readonly id: number;
  readonly parent: number | null;
  readonly depth: number;
  readonly path: string;
  readonly class: string | null;
  readonly instance: number | string | null;
  readonly calls: number;
  readonly cpu_ns: number | null;
  readonly cpu_self_ns: number | null;
  readonly gpu_incl_ns: number;
  readonly gpu_excl_ns: number;
  readonly gpu_busy_ns: number | null;
  readonly kernels_incl: number;
  readonly kernels_excl: number;
  readonly activities_incl: number;
  readonly activities_excl: number;
  /** gpu_excl_ns by evidence class. */
  readonly evidence: NsMap;
  readonly repeat?: number;
}

export interface GraphAlignment {
  readonly graph: number;
  readonly batch?: number | null;
  readonly capture_file: string | null;
  readonly launches: number;
  readonly kernels?: number;
  readonly matched: number;
  readonly mismatched: number;
  readonly evidence?: string;
  readonly withheld: boolean;
  readonly reason: string | null;
  readonly confidence: number;
}

export interface CompiledRegion {
  readonly region: string;
  readonly module: string | null;
  readonly calls: number;
  readonly n: number;
  readonly sum_ns: number;
  readonly n_fused: number;
  readonly fused_ns: number;
  readonly ops: readonly string[];
  readonly by_module: NsMap;
}

export interface ModulesData {
  readonly nodes?: readonly ModuleNode[];
  readonly not_listed?: { readonly modules: number; readonly gpu_excl_ns: number };
  readonly unattributed?: { readonly gpu_ns: number; readonly kernels: number; readonly by_reason: NsMap };
  readonly total?: { readonly gpu_ns: number; readonly kernels: number };
  readonly alignment?: readonly GraphAlignment[];
  readonly compiled_regions?: readonly CompiledRegion[];
  readonly abstained?: Abstained;
}

export interface Pass extends Place {
  readonly index: number;
  readonly kind: string;
  readonly step: number | null;
  readonly batch: number | null;
  readonly start_ns: number | null;
  readonly end_ns: number | null;
  readonly wall_ns: number | null;
  readonly busy_ns: number | null;
  readonly sum_ns: number;
  readonly n_kernels: number;
  readonly n_layers: number;
  readonly avg_layer_ns: number | null;
  readonly first_layer_ns: number | null;
  readonly complete: boolean;
  readonly confidence: number;
  readonly note: string;
}

export interface Anchor {
  readonly pattern: string | null;
  readonly kernels: readonly string[];
  readonly kind: 'boundary' | 'period' | 'repetition' | null;
  readonly evidence: string;
  readonly confidence: number;
  readonly level: 'high' | 'low' | null;
}

export interface PassesData {
  readonly passes?: readonly Pass[];
  readonly layers_per_pass?: number | null;
  readonly steady_pass?: number | null;
  readonly anchor?: Anchor;
  readonly outside?: { readonly gpu_ns: number; readonly kernels: number };
  readonly abstained?: Abstained;
}

export interface LayerRow {
  readonly index: number;
  readonly type: string;
  readonly flags: readonly string[];
  readonly start_ns: number | null;
  readonly end_ns: number | null;
  readonly wall_ns: number | null;
  readonly sum_ns: number;
  readonly busy_ns: number | null;
  readonly n_kernels: number;
  readonly copy_ns: number;
  readonly n_foreign: number;
  readonly foreign_ns: number;
  readonly by_category: NsMap;
}

export interface LayerCluster {
  readonly type: string;
  readonly n: number;
  readonly avg_wall_ns: number;
  readonly median_wall_ns: number;
  readonly avg_sum_ns: number;
  readonly wall_ns: number;
  readonly gpu_ns: number;
  readonly n_kernels: number;
  readonly example: number;
  readonly by_category: NsMap;
}

export interface PassPart {
  readonly n_kernels: number;
  readonly sum_ns: number;
  readonly start_ns: number | null;
  readonly end_ns: number | null;
  readonly kernels: readonly { name: string; short_name: string; category: string; n: number; sum_ns: number }[];
}

export interface LayerVariance {
  readonly layer: number;
  readonly type: string;
  readonly mean_ns: number;
  readonly median_ns: number;
  readonly min_ns: number;
  readonly max_ns: number;
  readonly stddev_ns: number;
  readonly outlier: boolean;
  /** Wall time in each of `passes`. */
  readonly by_pass: readonly (number | null)[];
}

/** Of one pass, or (`all-passes`) `phase`, `passes`, `rule` and `rows`. */
export interface LayersData {
  readonly pass?: number | null;
  readonly kind?: string;
  readonly reason?: string | null;
  readonly layers?: readonly LayerRow[];
  readonly head?: PassPart;
  readonly tail?: PassPart;
  readonly clusters?: readonly LayerCluster[];
  readonly total?: { n_layers: number; n_kernels: number; sum_ns: number; busy_ns: number | null; wall_ns: number | null };
  readonly phase?: string;
  readonly passes?: readonly number[];
  readonly rule?: string;
  readonly rows?: readonly LayerVariance[];
  readonly anchor?: Anchor;
  /** Agreement with the scopes of modules; null where there are none. */
  readonly modules?: { readonly class: string; readonly n_layers: number; readonly n_agreeing: number } | null;
  readonly abstained?: Abstained;
}

export interface KernelRow extends Partial<Place> {
  readonly key: string;
  readonly name: string | null;
  readonly short_name: string | null;
  readonly category: string | null;
  readonly group?: string;
  readonly n: number;
  readonly sum_ns: number;
  readonly avg_ns?: number;
  readonly min_ns?: number;
  readonly max_ns?: number;
  readonly evidence?: NsMap;
  /** With `layer`: one row a kernel. */
  readonly pass?: number;
  readonly layer?: number | string;
  readonly index?: number;
  readonly block?: number | null;
  readonly block_name?: string | null;
  readonly start_ns?: number;
  readonly dims?: string | null;
}

export interface KernelsData {
  readonly by?: string;
  readonly rows?: readonly KernelRow[];
  readonly total?: { readonly n: number; readonly sum_ns: number; readonly n_kernels: number; readonly kernel_ns: number };
  readonly abstained?: Abstained;
}

export interface Step extends Place {
  readonly index: number;
  readonly name: string;
  /** Null: nothing says it. */
  readonly phase: string | null;
  readonly requests: number | null;
  readonly query_tokens: number | null;
  readonly start_ns: number;
  readonly first_ns: number | null;
  readonly last_ns: number | null;
  readonly wall_ns: number | null;
  readonly busy_ns: number | null;
  readonly sum_ns: number;
  readonly n_kernels: number;
  readonly graph_kernels: number;
  readonly eager_kernels: number;
  readonly launch_mode: string;
}

export interface StepsData {
  readonly steps?: readonly Step[];
  readonly abstained?: Abstained;
}

export interface SummaryData {
  readonly what?: {
    engine?: string | null;
    model?: string | null;
    layers?: string | null;
    gpu?: string | null;
    phase_mix?: NsMap;
  };
  readonly replays?: { readonly gpu_ns: number; readonly hidden_ns: number; readonly launches: number };
  readonly gpu?: { busy_ns: number; idle_ns: number; span_ns: number; sum_ns: number; cpu_only: boolean };
  readonly next?: readonly { command: string; why: string }[];
}

export interface InfoData {
  readonly n_kernels?: number;
  readonly n_events?: number;
  readonly cpu_only?: boolean;
  readonly processes?: readonly { pid: number | string | null; rank: number | null; name?: string | null; devices: readonly (number | string)[] }[];
  readonly devices?: readonly {
    device: number | string;
    name: string | null;
    n: number;
    sum_ns: number;
    busy_ns: number;
    streams: readonly { stream: number | string; n: number; sum_ns: number; busy_ns: number }[];
  }[];
}

export interface TimelineLane {
  readonly id: number;
  readonly kind: 'passes' | 'layers' | 'blocks' | 'stream' | 'steps';
  readonly device: number | string | null;
  readonly stream: number | string | null;
  readonly rank: number | null;
  readonly pid: number | string | null;
  readonly name: string;
}

export interface TimelineSlice {
  readonly lane: number;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly n: number;
  readonly busy_ns: number;
  readonly name: string;
  readonly pass: number | null;
  readonly layer: number | string | null;
  readonly category: string | null;
  readonly evidence: string | null;
}

export interface TimelineData {
  readonly from_ns?: number;
  readonly to_ns?: number;
  readonly bin_ns?: number;
  readonly lanes?: readonly TimelineLane[];
  readonly slices?: readonly TimelineSlice[];
  readonly abstained?: Abstained;
}

export interface RangeRow {
  readonly kind: 'pass' | 'layer';
  readonly pass: number | null;
  readonly layer: number | string | null;
  readonly type: string;
  readonly start_ns: number | null;
  readonly end_ns: number | null;
  readonly start_s: string | null;
  readonly end_s: string | null;
}

export interface RangesData {
  readonly ranges?: readonly RangeRow[];
  readonly abstained?: Abstained;
}

export interface AnalysisData {
  readonly summary: SummaryData;
  readonly info: InfoData;
  readonly modules: ModulesData;
  readonly passes: PassesData;
  readonly layers: LayersData;
  readonly kernels: KernelsData;
  readonly steps: StepsData;
  readonly timeline: TimelineData;
  readonly ranges: RangesData;
}

export type AnalysisName = keyof AnalysisData;

/** One rank of an answer: its data, with what the whole answer says beside. */
export interface AnalysisPart<V extends AnalysisName> {
  readonly data: AnalysisData[V];
  readonly coverage: Envelope['coverage'];
  readonly rank: number | null;
  readonly input: string;
  readonly envelope: Envelope;
}

/** The part of a rank; without a rank, or where the rank is not there, the first. */
export function partOf<V extends AnalysisName>(envelope: Envelope, rank: number | null): AnalysisPart<V> {
  const parts = envelope.ranks ?? [];
  const part = parts.find((candidate) => candidate.rank === rank) ?? parts[0];
  // The server's schema test holds each verb to its schema; the app does not check it again.
  if (part === undefined) {
    const input = envelope.inputs[0];
    return {
      data: (envelope.data ?? {}) as unknown as AnalysisData[V],
      coverage: envelope.coverage,
      rank: input?.rank ?? null,
      input: input?.path ?? '',
      envelope,
    };
  }
  return {
    data: part.data as unknown as AnalysisData[V],
    coverage: part.coverage,
    rank: part.rank,
    input: part.input,
    envelope,
  };
}
