import type { Place } from '../data/analyses';
import type { MapModule, ModelExecution } from '../data/model_execution';
import { type RawObject, asList, asNumber, asObject, asText, nsOfUs, textsOf } from '../data/raw';

/** A kernel's time in a module, whatever it was read from. */
export interface KernelTime {
  readonly name: string;
  readonly shortName: string | null;
  readonly category: string | null;
  readonly n: number;
  readonly sum: number;
  readonly evidence: Readonly<Record<string, number>> | null;
  readonly dims: string | null;
  /** Where it ran; what is not said is absent. */
  readonly place?: Place;
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

function nameOf(module: MapModule): string {
  return asText(module.name) ?? asText(module.class) ?? '';
}

/** Folded modules name their members, so a path is followed name by name. */
function find(module: MapModule, path: string, modules: number): Found | null {
  for (const item of asList(module.children)) {
    if (asObject(item) === null) continue;
    const child = item as MapModule;
    const members = textsOf(child.members);
    const whole = behind(path, [nameOf(child)]);
    const rest = whole ?? behind(path, members);
    if (rest === null) continue;
    const of = whole === null ? Math.max(modules, asNumber(child.repeat) ?? members.length, 1) : modules;
    const found = rest === '' ? { module: child, modules: of } : find(child, rest, of);
    if (found !== null) return found;
  }
  return null;
}

function findFromRoot(root: MapModule, path: string): Found | null {
  const rest = behind(path, [nameOf(root)]);
  if (rest === '') return { module: root, modules: 1 };
  return find(root, rest ?? path, 1);
}

interface OpKernel {
  readonly name: string;
  readonly n: number;
  readonly ns: number;
  readonly role: string | null;
}

/** Anyone may have written the document: what is no kernel is left out. */
function kernelsOfOp(op: RawObject): readonly OpKernel[] {
  if (op.gpu_kernels !== undefined) {
    return asList(op.gpu_kernels).flatMap((item) => {
      const kernel = asObject(item);
      const name = asText(kernel?.name);
      return name === null ? [] : [{ name, n: asNumber(kernel?.n) ?? 0, ns: asNumber(kernel?.gpu_ns) ?? 0, role: asText(kernel?.role) }];
    });
  }
  // With our keys an op without kernels of its own repeats the name of one below it.
  const name = asText(op.gpu);
  if (name === null || op.gpu_own_ns !== undefined) return [];
  return [{ name, n: asNumber(op.calls) ?? 1, ns: nsOfUs(op.gpu_dur_us) ?? 0, role: asText(op.gpu_role) }];
}

function addOps(ops: unknown, to: Map<string, KernelTime>): void {
  const stack = [...asList(ops)].reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const op = asObject(next);
    if (op === null) continue;
    const own = kernelsOfOp(op);
    for (const { name, n, ns, role } of own) {
      const before = to.get(name);
      to.set(name, {
        name,
        shortName: null,
        category: role,
        n: (before?.n ?? 0) + n,
        sum: (before?.sum ?? 0) + ns,
        evidence: null,
        dims: null,
      });
    }
    // The older keys give an op the kernel that an op below it launched: it would count twice.
    if (op.gpu_own_ns !== undefined || own.length === 0) stack.push(...[...asList(op.sub_ops)].reverse());
  }
}

/** Kernels, copies and sets of the whole document. */
export function kernelsOfRun(document: ModelExecution): readonly KernelTime[] {
  const all = [...Object.entries(asObject(document.kernel_summary) ?? {}), ...Object.entries(asObject(document.copy_summary) ?? {})];
  return all
    .map(([name, value]) => {
      const kernel = asObject(value);
      return {
        name,
        shortName: null,
        category: asText(kernel?.role),
        n: asNumber(kernel?.count) ?? 0,
        sum: asNumber(kernel?.gpu_ns) ?? nsOfUs(kernel?.total_dur_us) ?? 0,
        evidence: null,
        dims: null,
      };
    })
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
    stack.push(...(asList(next.children).filter((child) => asObject(child) !== null) as readonly MapModule[]));
  }
  return { kernels: [...kernels.values()].sort((a, b) => b.sum - a.sum), modules: found.modules };
}
