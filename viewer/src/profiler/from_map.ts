import type { MapModule, ModelExecution, OpNode } from '../data/model_execution';
import { asList, asNumber, asObject, asText, countsOf, nsOfUs } from '../data/raw';
import type { FlatModule } from './module_tree';

/** GPU time that the older keys tell: of each op's first kernel, which may be that of an op below it. */
function legacyGpu(ops: readonly OpNode[]): number {
  let sum = 0;
  const stack = [...ops];
  for (let op = stack.pop(); op !== undefined; op = stack.pop()) {
    const own = nsOfUs(asObject(op)?.gpu_dur_us);
    if (own === null) stack.push(...opsOf(asObject(op)?.sub_ops));
    else sum += own;
  }
  return sum;
}

/** Anyone may have written the document: what is no object is left out. */
function opsOf(value: unknown): readonly OpNode[] {
  return asList(value).filter((item) => asObject(item) !== null) as readonly OpNode[];
}

function modulesOf(value: unknown): readonly MapModule[] {
  return asList(value).filter((item) => asObject(item) !== null) as readonly MapModule[];
}

function ownGpu(module: MapModule): number {
  return asNumber(module.gpu_own_ns) ?? legacyGpu(opsOf(module.ops));
}

interface Frame {
  readonly module: MapModule;
  readonly parentKey: string | null;
  readonly parentPath: string | null;
  readonly depth: number;
}

/** Deeper modules are no rows: their time stands in the one above. No model is so deep, and paths grow with it. */
const MAX_DEPTH = 200;

function nameOf(module: MapModule): string {
  const name = asText(module.name);
  const kind = asText(module.class) ?? '[module]';
  if (name !== null) return name;
  const instance = asNumber(module.instance);
  return instance === null ? kind : `${kind}_${instance}`;
}

/** All own time of what is below. */
function timeBelow(module: MapModule): number {
  let sum = 0;
  const stack = [...modulesOf(module.children)];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    sum += ownGpu(next);
    stack.push(...modulesOf(next.children));
  }
  return sum;
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

function flatOf(frame: Frame, key: string, path: string): FlatModule {
  const { module } = frame;
  const isLast = frame.depth >= MAX_DEPTH;
  return {
    key,
    parentKey: frame.parentKey,
    path,
    class: asText(module.class),
    spent: {
      gpu: asNumber(module.gpu_ns),
      cpu: asNumber(module.cpu_ns) ?? nsOfUs(module.dur_us),
      kernels: asNumber(module.kernels),
      calls: asNumber(module.calls),
    },
    own: ownGpu(module) + (isLast ? timeBelow(module) : 0),
    evidence: countsOf(module.evidence),
    compared: [],
    repeat: asNumber(module.repeat) ?? 1,
    more: false,
    modelDepth: 1,
  };
}

/** Rows of the module tree of model_execution.json, with the older keys alone or with ours. */
export function fromMap(document: ModelExecution): readonly FlatModule[] {
  const modules: { flat: FlatModule; known: boolean }[] = [];
  const stack: Frame[] = [{ module: document.module_tree, parentKey: null, parentPath: null, depth: 1 }];
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const { module, parentPath, depth } = frame;
    const path = typeof module.path === 'string' ? module.path : parentPath === null ? nameOf(module) : `${parentPath}.${nameOf(module)}`;
    const key = String(modules.length);
    modules.push({ known: asNumber(module.gpu_ns) !== null, flat: flatOf(frame, key, path) });
    if (depth >= MAX_DEPTH) continue;
    for (const child of [...modulesOf(module.children)].reverse()) {
      stack.push({ module: child, parentKey: key, parentPath: path, depth: depth + 1 });
    }
  }
  return inclusiveGpu(modules);
}

export function mapTotal(document: ModelExecution, modules: readonly FlatModule[]): number {
  return asNumber(asObject(document.stats)?.total_gpu_ns) ?? modules[0]?.spent.gpu ?? 0;
}
