/**
 * per_request_profiles.json (`layerscope requests`; docs/schema/per_request_profiles.schema.json).
 * Arrays of nodes and layers have one value a request; null: the request does not have it.
 */
export type PerRequest = readonly (number | null)[];

export interface RequestPhase {
  readonly steps: number;
  readonly tokens: number | null;
  readonly gpu_ns: number;
  readonly kernels: number;
  readonly cpu_ns: number | null;
  readonly wall_ns: number;
}

export interface ProfiledRequest {
  readonly index: number;
  readonly file: string;
  readonly label: 'Fast' | 'Typical' | 'Slow' | null;
  readonly percentile: number | null;
  readonly prompt_tokens: number | null;
  readonly output_tokens: number | null;
  readonly latency_ns: number | null;
  readonly source_index: number | null;
  readonly gpu_ns: number;
  readonly kernel_ns: number;
  readonly kernels: number;
  readonly cpu_ns: number;
  readonly wall_ns: number;
  readonly cpu_only: boolean;
  readonly mode: 'eager' | 'compiled' | null;
  readonly phases: Readonly<Record<string, RequestPhase | null>>;
  readonly phases_from: 'steps' | 'passes' | null;
  readonly outside_phases_ns: number;
  readonly outside_phases_cpu_ns: number | null;
  readonly layers_from: 'kernels' | 'modules' | null;
}

export interface RequestNode {
  readonly id: number;
  readonly parent: number | null;
  readonly path: string;
  readonly class: string | null;
  readonly process?: number;
  readonly calls: PerRequest;
  readonly gpu_ns: PerRequest;
  readonly gpu_self_ns: PerRequest;
  readonly cpu_ns: PerRequest;
  readonly kernels: PerRequest;
  readonly evidence: readonly (Readonly<Record<string, number>> | null)[];
}

export interface RequestLayer {
  readonly index: number;
  readonly type: string | null;
  readonly path: string | null;
  readonly gpu_ns: PerRequest;
  readonly cpu_ns: PerRequest;
}

export interface PerRequestProfiles {
  readonly schema: string;
  readonly model: string | null;
  readonly engine: string | null;
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly mode: 'eager' | 'compiled' | null;
  readonly requests: readonly ProfiledRequest[];
  readonly nodes: readonly RequestNode[];
  readonly layers: readonly RequestLayer[];
}
