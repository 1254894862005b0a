import type { ArchModel, ArchNode, Metric } from './model';
import { timeOf, valuesOf } from './model';

/** What stands in a flow: a block, a row of ops that took no time, or folds that take turns. */
export type FlowEntry =
  | { readonly kind: 'node'; readonly id: string; readonly node: ArchNode }
  | { readonly kind: 'quiet'; readonly id: string; readonly nodes: readonly ArchNode[] }
  | { readonly kind: 'pattern'; readonly id: string; readonly text: string; readonly nodes: readonly ArchNode[] };

function isQuiet(node: ArchNode, metric: Metric): boolean {
  return node.kind === 'op' && (timeOf(node, metric) ?? 0) === 0;
}

/** Folds next to each other whose members are layers of different types: `(A B)×18`. */
function isLayerFold(node: ArchNode, folds: ReadonlySet<ArchNode>): boolean {
  return node.kind === 'module' && node.repeat > 1 && folds.has(node);
}

/**
 * Entries in the order in which things ran. Two or more ops in a row without time of this metric
 * are one entry, so that a flow shows what costs; nothing is dropped.
 */
export function flowEntries(items: readonly ArchNode[], model: ArchModel, metric: Metric): FlowEntry[] {
  const entries: FlowEntry[] = [];
  for (let at = 0; at < items.length; ) {
    const first = items[at];
    if (first === undefined) break;
    let end = at + 1;
    const take = (test: (node: ArchNode) => boolean): void => {
      for (let next = items[end]; next !== undefined && test(next); next = items[end]) end += 1;
    };
    if (isQuiet(first, metric)) take((node) => isQuiet(node, metric));
    else if (isLayerFold(first, model.layerFolds)) take((node) => isLayerFold(node, model.layerFolds));
    const nodes = items.slice(at, end);
    at = end;
    if (nodes.length === 1) entries.push({ kind: 'node', id: first.id, node: first });
    else if (first.kind === 'op') entries.push({ kind: 'quiet', id: `quiet:${first.id}`, nodes });
    else {
      const text = model.layerPattern ?? `×${nodes.reduce((sum, node) => sum + node.repeat, 0)}`;
      entries.push({ kind: 'pattern', id: `pattern:${first.id}`, text, nodes });
    }
  }
  return entries;
}

/** Distinct names of a row of ops, most frequent first: `view ×4, empty, split`. */
export function quietNames(nodes: readonly ArchNode[]): string {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const name = node.name.replace(/^aten::/, '');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  const shown = ranked.slice(0, 4).map(([name, n]) => (n > 1 ? `${name} ×${n}` : name));
  return ranked.length > 4 ? `${shown.join(', ')} and ${ranked.length - 4} more` : shown.join(', ');
}

/** A node's time: of all its layers, or of one member of the fold around it. */
export function timeIn(node: ArchNode, metric: Metric, member: number | null): number | null {
  if (member === null) return timeOf(node, metric);
  const values = valuesOf(node, metric);
  return values === null ? timeOf(node, metric) : (values[member] ?? null);
}

export interface Segment {
  readonly node: ArchNode;
  readonly ns: number;
}

/** What a module's time is made of, heaviest first: its parts with time, the small ones as rest. */
export function composition(node: ArchNode, metric: Metric, member: number | null, most = 6): {
  segments: readonly Segment[];
  restNs: number;
} {
  const parts = node.items
    .map((item) => ({ node: item, ns: timeIn(item, metric, member) ?? 0 }))
    .filter((part) => part.ns > 0)
    .sort((a, b) => b.ns - a.ns);
  const segments = parts.slice(0, most);
  return { segments, restNs: parts.slice(most).reduce((sum, part) => sum + part.ns, 0) };
}

const heaviest: Record<Metric, WeakMap<ArchNode, ArchNode | null>> = { gpu: new WeakMap(), cpu: new WeakMap() };

function findHeaviestOp(node: ArchNode, metric: Metric): ArchNode | null {
  if (node.kind === 'op') return node;
  let at: ArchNode = node;
  for (;;) {
    let best: ArchNode | null = null;
    for (const item of at.items) {
      if (best === null || (timeOf(item, metric) ?? 0) > (timeOf(best, metric) ?? 0)) best = item;
    }
    if (best === null) return null;
    if (best.kind === 'op') return (timeOf(best, metric) ?? 0) > 0 ? best : null;
    at = best;
  }
}

/** The op with the most time in a node: its shapes stand for the module's. Found once a node. */
export function heaviestOp(node: ArchNode, metric: Metric): ArchNode | null {
  const known = heaviest[metric].get(node);
  if (known !== undefined) return known;
  const found = findHeaviestOp(node, metric);
  heaviest[metric].set(node, found);
  return found;
}

/** Modules that a first look opens: the way to the layers, as long as it is most of the time. */
export function openAtFirst(model: ArchModel, metric: Metric): Set<string> {
  const open = new Set<string>();
  const whole = (metric === 'gpu' ? model.totalGpuNs : model.totalCpuNs) ?? 0;
  let at: ArchNode = model.root;
  for (let depth = 0; depth < 4 && at.repeat === 1; depth += 1) {
    open.add(at.id);
    const next: ArchNode | undefined = at.items
      .filter((item) => item.kind === 'module')
      .sort((a, b) => (timeOf(b, metric) ?? 0) - (timeOf(a, metric) ?? 0))[0];
    if (next === undefined || (timeOf(next, metric) ?? 0) * 2 < whole) break;
    at = next;
  }
  if (at.repeat > 1) open.add(at.id);
  return open;
}
