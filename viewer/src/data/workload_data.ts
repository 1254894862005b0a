import type { HealthEntry, Json } from './envelope';

/**
 * workload_data.json (`layerscope workload`). Times are nanoseconds relative to the first request;
 * what is not known is null. The Workload tab reads and checks what lies below these keys.
 */
export interface WorkloadData {
  readonly schema: string;
  readonly sources: readonly { path: string; kind: string; version?: string | null }[];
  readonly model?: Json;
  readonly requests: readonly Readonly<Record<string, Json>>[];
  readonly summary: Readonly<Record<string, Json>> | null;
  readonly run?: number | null;
  readonly concurrency?: readonly { t_ns: number; n: number }[];
  readonly server?: Json;
  readonly differences?: Json;
  readonly health?: readonly HealthEntry[];
  readonly queue_threshold_ns?: number | null;
}
