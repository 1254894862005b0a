import type { ModuleNode, ModulesData } from '../data/analyses';
import type { FlatModule, Spent } from './module_tree';

/** One path may stand for several processes and devices. */
export function moduleKey(node: ModuleNode): string {
  return `${node.path}\u0000${String(node.pid)}\u0000${String(node.device)}`;
}

/** A replayed pass calls no module on the host, and what it cost there is not known rather than nothing. */
function cpuOf(node: ModuleNode): number | null {
  return node.cpu_ns === 0 && (node.calls > 0 || node.kernels_incl > 0) ? null : node.cpu_ns;
}

function spentOf(node: ModuleNode): Spent {
  return { gpu: node.gpu_incl_ns, cpu: cpuOf(node), kernels: node.kernels_incl, calls: node.calls };
}

function keysById(nodes: readonly ModuleNode[]): ReadonlyMap<number, string> {
  return new Map(nodes.map((node) => [node.id, moduleKey(node)]));
}

/** The row of what no module has; the rows of the roots and it add up to the whole. */
export const UNATTRIBUTED = '[unattributed]';

function unattributedSpent(data: ModulesData | null): Spent | null {
  const rest = data?.unattributed;
  return rest === undefined ? null : { gpu: rest.gpu_ns, cpu: null, kernels: rest.kernels, calls: null };
}

function unattributed(list: ModuleList | undefined): readonly FlatModule[] {
  const spent = unattributedSpent(list?.run ?? null);
  if (list === undefined || spent === null || (list.run.nodes ?? []).length === 0) return [];
  return [
    {
      key: UNATTRIBUTED,
      parentKey: null,
      path: UNATTRIBUTED,
      class: null,
      spent,
      own: spent.gpu,
      evidence: spent.gpu === null || spent.gpu === 0 ? {} : { unresolved: spent.gpu },
      compared: list.compared.map(unattributedSpent),
      repeat: 1,
      more: false,
      modelDepth: 1,
    },
  ];
}

/** What `modules` gave: of the run, and of the passes that are compared (null: not there yet). */
export interface ModuleList {
  readonly run: ModulesData;
  readonly compared: readonly (ModulesData | null)[];
}

function columnsOf(lists: readonly ModuleList[]): readonly ReadonlyMap<string, Spent>[] {
  return (lists[0]?.compared ?? []).map((_, i) => {
    const nodes = lists.flatMap((list) => list.compared[i]?.nodes ?? []);
    return new Map(nodes.map((node) => [moduleKey(node), spentOf(node)] as const));
  });
}

/**
 * The first list holds the roots, the others begin at a module of one before. Where lists are cut
 * at a depth, modules there may have more below them.
 */
export function fromModules(lists: readonly ModuleList[], areCut: boolean): readonly FlatModule[] {
  const columns = columnsOf(lists);
  const loadedBelow = new Set(lists.slice(1).flatMap(({ run }) => run.nodes?.slice(0, 1).map(moduleKey) ?? []));
  const modules = lists.flatMap(({ run }) => {
    const nodes = run.nodes ?? [];
    const keys = keysById(nodes);
    const deepest = areCut ? nodes.reduce((deep, node) => Math.max(deep, node.depth), 0) : null;
    return nodes.map((node): FlatModule => {
      const key = moduleKey(node);
      return {
        key,
        parentKey: node.parent === null ? null : (keys.get(node.parent) ?? null),
        path: node.path,
        class: node.class,
        spent: spentOf(node),
        own: node.gpu_excl_ns,
        evidence: node.evidence,
        compared: columns.map((column) => column.get(key) ?? null),
        repeat: node.repeat ?? 1,
        modelDepth: node.depth,
        // Time or kernels of its own that do not explain the whole lie in modules not listed.
        more:
          deepest !== null &&
          node.depth === deepest &&
          !loadedBelow.has(key) &&
          (node.gpu_incl_ns !== node.gpu_excl_ns || (node.cpu_ns ?? 0) !== (node.cpu_self_ns ?? 0)),
      };
    });
  });
  return [...modules, ...unattributed(lists[0])];
}
