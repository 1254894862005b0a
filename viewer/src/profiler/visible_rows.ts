import { type CellValue, inOrder } from '../ui/order';
import type { ModuleTree, TreeNode } from './module_tree';

export interface TreeSort {
  readonly column: string;
  readonly descending: boolean;
}

/** Value of a node for a column, for sorting. */
export type NodeValue = (node: TreeNode, column: string) => CellValue;

/** Nodes whose name, path or class holds the text. */
export function matches(tree: ModuleTree, text: string): readonly number[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const hit = (node: TreeNode): boolean =>
    !node.group && (node.name.toLowerCase().includes(wanted) || (node.class ?? '').toLowerCase().includes(wanted));
  const byPath = (node: TreeNode): boolean => wanted.includes('.') && node.path.toLowerCase().includes(wanted);
  return walk(tree, tree.roots).filter((index) => {
    const node = tree.nodes[index];
    return node !== undefined && (hit(node) || byPath(node));
  });
}

function walk(tree: ModuleTree, from: readonly number[]): readonly number[] {
  const order: number[] = [];
  const stack = [...from].reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    order.push(next);
    const below = tree.nodes[next]?.children ?? [];
    for (let i = below.length - 1; i >= 0; i -= 1) stack.push(below[i] ?? 0);
  }
  return order;
}

export function ancestors(tree: ModuleTree, index: number): readonly number[] {
  const above: number[] = [];
  for (let at = tree.nodes[index]?.parent ?? null; at !== null; at = tree.nodes[at]?.parent ?? null) above.push(at);
  return above;
}

function sorted(tree: ModuleTree, children: readonly number[], sort: TreeSort | null, value: NodeValue): readonly number[] {
  if (sort === null) return children;
  const keyed = children.map((index) => {
    const node = tree.nodes[index];
    return { index, key: node === undefined ? null : value(node, sort.column) };
  });
  return keyed.sort((a, b) => inOrder(a.key, b.key, sort.descending)).map(({ index }) => index);
}

/**
 * Rows from top to bottom: open nodes show what is below them. With hits (a search) only those are
 * shown, with what leads to them, and what is below a hit when it is opened.
 */
export function visibleRows(
  tree: ModuleTree,
  open: ReadonlySet<string>,
  hits: readonly number[] | null,
  sort: TreeSort | null,
  value: NodeValue,
): readonly number[] {
  const found = hits === null ? null : new Set(hits);
  const leads = hits === null ? null : new Set(hits.flatMap((index) => ancestors(tree, index)));
  const rows: number[] = [];
  const stack = [...sorted(tree, tree.roots, sort, value)].reverse().map((index) => ({ index, below: false }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const node = tree.nodes[next.index];
    const hit = found?.has(next.index) ?? false;
    const leading = leads?.has(next.index) ?? false;
    if (node === undefined || (found !== null && !next.below && !hit && !leading)) continue;
    rows.push(next.index);
    if (!leading && !open.has(node.key)) continue;
    const inside = next.below || (hit && open.has(node.key));
    const below = sorted(tree, node.children, sort, value);
    for (let i = below.length - 1; i >= 0; i -= 1) stack.push({ index: below[i] ?? 0, below: inside });
  }
  return rows;
}

/** What is open at first: the way down to the first choice, and no group. */
export function firstOpen(tree: ModuleTree): ReadonlySet<string> {
  const open = new Set<string>();
  let level = tree.roots;
  for (let depth = 0; depth < 3 && level.length > 0 && level.length <= 4; depth += 1) {
    const nodes = level.flatMap((index) => tree.nodes[index] ?? []).filter((node) => !node.group);
    for (const node of nodes) if (node.children.length > 0) open.add(node.key);
    level = nodes.flatMap((node) => node.children);
  }
  return open;
}
