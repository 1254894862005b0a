import type { MapModule, ModelExecution, OpNode } from '../data/model_execution';

/** A kernel's time in a module, whatever it was read from. */
export interface KernelTime {
  readonly name: string;
  readonly shortName: string | null;
  readonly category: string | null;
  readonly n: number;
  readonly sum: number;
  readonly evidence: Readonly<Record<string, number>> | null;
  readonly dims: string | null;
}

/** What is left of the path behind one of the names; null where it does not begin with any. */
function behind(path: string, names: readonly string[]): string | null {
  const name = names.find((one) => path === one || path.startsWith(`${one}.`));
  return name === undefined ? null : path.slice(name.length + 1);
}

interface Found {
  readonly module: MapModule;
  /** The path named one member of a fold, and the document has the figures of all. */
  readonly modules: number;
}

/** Folded modules name their members, so a path is followed name by name. */
function find(module: MapModule, path: string, modules: number): Found | null {
  for (const child of module.children) {
    const name = child.name ?? child.class;
    const whole = behind(path, [name]);
    const rest = whole ?? behind(path, child.members ?? []);
    if (rest === null) continue;
    const of = whole === null ? Math.max(modules, child.repeat ?? child.members?.length ?? 1) : modules;
    const found = rest === '' ? { module: child, modules: of } : find(child, rest, of);
    if (found !== null) return found;
  }
  return null;
}

function findFromRoot(root: MapModule, path: string): Found | null {
  const rest = behind(path, [root.name ?? root.class]);
  if (rest === '') return { module: root, modules: 1 };
  return find(root, rest ?? path, 1);
}

function kernelsOfOp(op: OpNode): NonNullable<OpNode['gpu_kernels']> {
  if (op.gpu_kernels !== undefined) return op.gpu_kernels;
  // With our keys an op without kernels of its own repeats the name of one below it.
  if (op.gpu === undefined || op.gpu_own_ns !== undefined) return [];
  return [{ name: op.gpu, n: op.calls ?? 1, gpu_ns: Math.round((op.gpu_dur_us ?? 0) * 1000), role: op.gpu_role ?? '' }];
}

function addOps(ops: readonly OpNode[], to: Map<string, KernelTime>): void {
  for (const op of ops) {
    const own = kernelsOfOp(op);
    for (const kernel of own) {
      const before = to.get(kernel.name);
      to.set(kernel.name, {
        name: kernel.name,
        shortName: null,
        category: kernel.role,
        n: (before?.n ?? 0) + kernel.n,
        sum: (before?.sum ?? 0) + kernel.gpu_ns,
        evidence: null,
        dims: null,
      });
    }
    // The older keys give an op the kernel that an op below it launched: it would count twice.
    if (op.gpu_own_ns !== undefined || own.length === 0) addOps(op.sub_ops ?? [], to);
  }
}

/** Kernels, copies and sets of the whole document. */
export function kernelsOfRun(document: ModelExecution): readonly KernelTime[] {
  const all = [...Object.entries(document.kernel_summary ?? {}), ...Object.entries(document.copy_summary ?? {})];
  return all
    .map(([name, kernel]) => ({
      name,
      shortName: null,
      category: kernel.role,
      n: kernel.count,
      sum: kernel.gpu_ns ?? Math.round(kernel.total_dur_us * 1000),
      evidence: null,
      dims: null,
    }))
    .sort((a, b) => b.sum - a.sum);
}

/** Kernels of a module and all below it, from model_execution.json; how many modules its row there stands for. */
export function kernelsOfMap(document: ModelExecution, path: string): { kernels: readonly KernelTime[]; modules: number } | null {
  const found = findFromRoot(document.module_tree, path);
  if (found === null) return null;
  const kernels = new Map<string, KernelTime>();
  const stack: MapModule[] = [found.module];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    addOps(next.ops, kernels);
    stack.push(...next.children);
  }
  return { kernels: [...kernels.values()].sort((a, b) => b.sum - a.sum), modules: found.modules };
}
