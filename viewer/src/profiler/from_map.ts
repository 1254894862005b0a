import type { MapModule, ModelExecution, OpNode } from '../data/model_execution';
import type { FlatModule } from './module_tree';

/** GPU time that the older keys tell: of each op's first kernel, which may be that of an op below it. */
function legacyGpu(ops: readonly OpNode[]): number {
  return ops.reduce(
    (sum, op) => sum + (op.gpu_dur_us === undefined ? legacyGpu(op.sub_ops ?? []) : Math.round(op.gpu_dur_us * 1000)),
    0,
  );
}

function ownGpu(module: MapModule): number {
  return module.gpu_own_ns ?? legacyGpu(module.ops);
}

interface Frame {
  readonly module: MapModule;
  readonly parentKey: string | null;
  readonly parentPath: string | null;
  /** Place among its siblings; two may have one name. */
  readonly at: number;
}

function nameOf(module: MapModule): string {
  if (module.name !== undefined) return module.name;
  return module.instance === undefined ? module.class : `${module.class}_${module.instance}`;
}

function inclusiveGpu(modules: readonly { flat: FlatModule; known: boolean }[]): readonly FlatModule[] {
  const sums = new Map<string, number>();
  for (const { flat } of [...modules].reverse()) {
    const sum = (sums.get(flat.key) ?? 0) + (flat.own ?? 0);
    sums.set(flat.key, sum);
    if (flat.parentKey !== null) sums.set(flat.parentKey, (sums.get(flat.parentKey) ?? 0) + sum);
  }
  return modules.map(({ flat, known }) =>
    known ? flat : { ...flat, spent: { ...flat.spent, gpu: sums.get(flat.key) ?? null } },
  );
}

/** Rows of the module tree of model_execution.json, with the older keys alone or with ours. */
export function fromMap(document: ModelExecution): readonly FlatModule[] {
  const modules: { flat: FlatModule; known: boolean }[] = [];
  const stack: Frame[] = [{ module: document.module_tree, parentKey: null, parentPath: null, at: 0 }];
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const { module } = frame;
    const path = module.path ?? (frame.parentPath === null ? nameOf(module) : `${frame.parentPath}.${nameOf(module)}`);
    const key = `${frame.parentKey ?? ''}/${frame.at}`;
    modules.push({
      known: module.gpu_ns !== undefined,
      flat: {
        key,
        parentKey: frame.parentKey,
        path,
        class: module.class,
        spent: {
          gpu: module.gpu_ns ?? null,
          cpu: module.cpu_ns ?? Math.round(module.dur_us * 1000),
          kernels: module.kernels ?? null,
          calls: module.calls ?? null,
        },
        own: ownGpu(module),
        evidence: module.evidence ?? {},
        compared: [],
        repeat: module.repeat ?? 1,
        more: false,
        modelDepth: 1,
      },
    });
    const children = module.children;
    for (let i = children.length - 1; i >= 0; i -= 1) {
      const child = children[i];
      if (child !== undefined) stack.push({ module: child, parentKey: key, parentPath: path, at: i });
    }
  }
  return inclusiveGpu(modules);
}

export function mapTotal(document: ModelExecution, modules: readonly FlatModule[]): number {
  return document.stats?.total_gpu_ns ?? modules[0]?.spent.gpu ?? 0;
}
