/**
 * model_execution.json (`layerscope map`; docs/schema/model_execution.schema.json). Files of other
 * writers hold the older keys alone, so everything of ours is optional here: keys in `_us` and
 * `dur` are microseconds of CPU time, but for `gpu_dur_us` and `total_dur_us`; keys in `_ns` are
 * exact nanoseconds.
 */
export interface OpArgument {
  readonly name: string;
  readonly shape: readonly number[] | null;
  readonly dtype: string | null;
}

export interface PassStatistics {
  readonly n: number;
  readonly avg_gpu_ns: number;
  readonly min_gpu_ns: number;
  readonly max_gpu_ns: number;
}

/** Exact figures over all forwards, in ns, that a module and an op have alike; older writers leave them out. */
export interface ExactFigures {
  readonly calls?: number;
  readonly cpu_ns?: number;
  readonly gpu_ns?: number;
  readonly gpu_own_ns?: number;
  readonly kernel_ns?: number;
  readonly gpu_busy_ns?: number;
  readonly kernels?: number;
  readonly evidence?: Readonly<Record<string, number>>;
  readonly passes?: PassStatistics;
  readonly all_layer_gpu_ns?: readonly (number | null)[];
  readonly avg_gpu_ns?: number;
  readonly min_gpu_ns?: number;
  readonly max_gpu_ns?: number;
}

export interface OpNode extends ExactFigures {
  readonly op: string;
  readonly dur_us: number;
  readonly seq: number;
  /** "[2,8] → [8]" */
  readonly dims?: string;
  readonly args?: readonly OpArgument[];
  /** Name of the kernel with the most time. */
  readonly gpu?: string;
  readonly gpu_dur_us?: number;
  readonly gpu_role?: string;
  readonly gpu_note?: string;
  readonly sub_ops?: readonly OpNode[];
  readonly avg_us?: number;
  readonly min_us?: number;
  readonly max_us?: number;
  readonly all_layer_durs?: readonly (number | null)[];
  readonly gpu_kernels?: readonly {
    name: string;
    n: number;
    gpu_ns: number;
    role: string;
    /** How the longest of them was launched; what the trace does not say is absent. */
    longest_run?: { gpu_ns: number; device?: number | string; stream?: number | string; grid?: string; block?: string; launch?: string };
  }[];
}

export interface ListedOp extends OpNode {
  readonly module?: string;
}

export interface MapModule extends ExactFigures {
  readonly class: string;
  readonly instance?: number | string;
  readonly dur_us: number;
  readonly seq: number;
  readonly children: readonly MapModule[];
  readonly ops: readonly OpNode[];
  /** Modules that this node stands for, when they were folded. */
  readonly repeat?: number;
  readonly per_layer_dur?: readonly (number | null)[];
  readonly all_layer_durs?: readonly (number | null)[];
  readonly avg_dur_us?: number;
  readonly min_dur_us?: number;
  readonly max_dur_us?: number;
  readonly name?: string;
  readonly path?: string;
  readonly members?: readonly string[];
  readonly rank_gpu_ns?: readonly (number | null)[];
  readonly rank_cpu_ns?: readonly (number | null)[];
}

export interface KernelSummary {
  readonly count: number;
  readonly total_dur_us: number;
  readonly role: string;
  readonly gpu_ns?: number;
}

export interface MapLayer {
  readonly index: number;
  readonly path?: string | null;
  readonly class?: string | null;
  readonly type?: string;
  readonly dur_us?: number | null;
  readonly cpu_ns?: number | null;
  readonly gpu_ns?: number;
  readonly kernel_ns?: number;
  readonly kernels?: number;
}

export interface MapPass {
  readonly index: number | null;
  readonly start_ns: number | null;
  readonly cpu_ns: number | null;
  readonly step: number | null;
  readonly phase: string | null;
  readonly requests: number | null;
  readonly gpu_ns: number;
  readonly kernel_ns: number;
  readonly kernels: number;
}

export interface ModelExecution {
  readonly module_tree: MapModule;
  readonly model?: string | null;
  readonly device?: string | null;
  readonly dtype?: string | null;
  /** An object of ours; older writers gave a name alone. */
  readonly engine?: string | { name: string; version: string | null; source: string | null } | null;
  readonly config?: Readonly<Record<string, unknown>> | null;
  readonly mode?: string | null;
  readonly iterations?: number | null;
  readonly layers?: number | null;
  readonly ops_per_layer?: number | null;
  readonly layer_template?: readonly ListedOp[];
  readonly per_layer?: readonly MapLayer[];
  readonly pre_layers?: readonly ListedOp[];
  readonly post_layers?: readonly ListedOp[];
  readonly kernel_summary?: Readonly<Record<string, KernelSummary>>;
  readonly pre_model_ops?: readonly OpNode[];
  readonly post_model_ops?: readonly OpNode[];
  readonly stats?: Readonly<Record<string, number>>;
  readonly schema_version?: number;
  readonly gpu_name?: string | null;
  readonly phases?: Readonly<Record<string, number>>;
  readonly layer_source?: string | null;
  readonly layer_pattern?: string | null;
  readonly layer_templates?: readonly {
    type: string;
    class: string | null;
    layers: readonly number[];
    ops?: readonly ListedOp[];
  }[];
  readonly copy_summary?: Readonly<Record<string, KernelSummary>>;
  readonly unattributed?: {
    readonly gpu_ns: number;
    readonly kernels: number;
    readonly without_op_ns: number;
    readonly by_reason: Readonly<Record<string, number>>;
  };
  readonly passes?: readonly MapPass[];
  readonly ranks?: readonly {
    rank: number | null;
    pid: number | string | null;
    input: string;
    gpu_ns: number;
    kernel_ns: number;
    kernels: number;
    unattributed_ns: number;
  }[];
  readonly alignment?: readonly unknown[];
}
