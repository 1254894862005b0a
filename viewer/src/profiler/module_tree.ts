import type { NsMap } from '../data/analyses';

/** What one run, pass or request spent in a module. Null: not known, or the module is not in it. */
export interface Spent {
  readonly gpu: number | null;
  readonly cpu: number | null;
  readonly kernels: number | null;
  readonly calls: number | null;
}

/** A module as a source gives it: parents before children. */
export interface FlatModule {
  /** Tells modules of one path apart by process and device. */
  readonly key: string;
  readonly parentKey: string | null;
  readonly path: string;
  readonly class: string | null;
  readonly spent: Spent;
  /** GPU time of the module without those below it. */
  readonly own: number | null;
  /** Of `own`, by evidence class. */
  readonly evidence: NsMap;
  /** One a column; null: the module is not in it. */
  readonly compared: readonly (Spent | null)[];
  /** Modules that the row stands for. */
  readonly repeat: number;
  /** There are modules below that were not loaded. */
  readonly more: boolean;
  /** As the verbs count: a root has 1. Rows made for groups are no level. */
  readonly modelDepth: number;
}

/** A column that stands beside the main figures: a pass, a step or a request. */
export interface ComparedColumn {
  readonly key: string;
  readonly title: string;
  readonly subtitle: string;
  readonly about: readonly (readonly [label: string, value: string])[];
  readonly selects: { readonly pass?: number; readonly request?: number };
  /** GPU time in the whole column: what the shares of its roots refer to. */
  readonly total: number | null;
}

export interface TreeNode extends FlatModule {
  readonly index: number;
  readonly name: string;
  readonly depth: number;
  readonly parent: number | null;
  readonly children: readonly number[];
  /** A row that was made for like siblings in a row; it is no module itself. */
  readonly group: boolean;
  /** Evidence of the module and all below it. */
  readonly evidenceBelow: NsMap;
}

export interface ModuleTree {
  readonly nodes: readonly TreeNode[];
  readonly roots: readonly number[];
  readonly byPath: ReadonlyMap<string, number>;
  readonly columns: readonly ComparedColumn[];
  readonly total: number;
}

/** Siblings of one class that stand in a row of at least this many get a row of their own. */
const LEAST_GROUP = 3;

interface Draft {
  flat: FlatModule;
  name: string;
  parent: number | null;
  children: number[];
  group: boolean;
}

function lastPart(path: string, parentPath: string | null): string {
  return parentPath !== null && path.startsWith(`${parentPath}.`) ? path.slice(parentPath.length + 1) : path;
}

function nameOf(flat: FlatModule, parentPath: string | null): string {
  const name = lastPart(flat.path, parentPath);
  // A root around several modules has no path of its own.
  return name === '' ? (flat.class ?? '') : name;
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

function sumSpent(all: readonly (Spent | null)[]): Spent | null {
  const there = all.filter((spent): spent is Spent => spent !== null);
  if (there.length === 0) return null;
  return there.reduce((a, b) => ({
    gpu: add(a.gpu, b.gpu),
    cpu: add(a.cpu, b.cpu),
    kernels: add(a.kernels, b.kernels),
    calls: add(a.calls, b.calls),
  }));
}

const NOTHING: Spent = { gpu: null, cpu: null, kernels: null, calls: null };

/** "Layer_0..35" of Layer_0 to Layer_35, as the verbs name such a row; null where the numbers are no series. */
export function nameOfRun(names: readonly string[]): string | null {
  const parts = names.map((name) => /^(.*?)(\d+)$/.exec(name));
  const prefix = parts[0]?.[1];
  if (prefix === undefined || parts.some((part) => part?.[1] !== prefix)) return null;
  const numbers = parts.map((part) => Number(part?.[2]));
  const [first = 0, second = 0] = numbers;
  const step = second - first;
  if (step <= 0 || numbers.some((number, i) => number !== first + i * step)) return null;
  const range = `${prefix}${first}..${first + (numbers.length - 1) * step}`;
  return step === 1 ? range : `${range} step ${step}`;
}

function groupOf(members: readonly Draft[], parentPath: string | null, parent: number | null): Draft {
  const flats = members.map((member) => member.flat);
  const first = flats[0];
  const run = nameOfRun(members.map((member) => member.name));
  const name = run ?? `${first?.class ?? ''} × ${members.length}`;
  return {
    name,
    parent,
    children: [],
    group: true,
    flat: {
      key: `group ${first?.key ?? ''}`,
      parentKey: null,
      path: run === null ? '' : parentPath === null ? run : `${parentPath}.${run}`,
      class: first?.class ?? null,
      spent: sumSpent(flats.map((flat) => flat.spent)) ?? NOTHING,
      own: 0,
      evidence: {},
      compared: (first?.compared ?? []).map((_, i) => sumSpent(flats.map((flat) => flat.compared[i] ?? null))),
      repeat: members.length,
      more: false,
      modelDepth: first?.modelDepth ?? 1,
    },
  };
}

/** Puts runs of like siblings below rows of their own. */
function groupChildren(drafts: Draft[], children: readonly number[], parent: number | null): number[] {
  const grouped: number[] = [];
  const parentPath = parent === null ? null : (drafts[parent]?.flat.path ?? null);
  for (let from = 0; from < children.length; ) {
    const kind = drafts[children[from] ?? 0]?.flat.class ?? null;
    let end = from + 1;
    while (kind !== null && end < children.length && drafts[children[end] ?? 0]?.flat.class === kind) end += 1;
    const run = children.slice(from, end);
    if (run.length < LEAST_GROUP || run.length === children.length && parent === null) {
      grouped.push(...run);
    } else {
      const members = run.flatMap((index) => drafts[index] ?? []);
      const index = drafts.push(groupOf(members, parentPath, parent)) - 1;
      const made = drafts[index];
      if (made !== undefined) made.children = [...run];
      for (const member of members) member.parent = index;
      grouped.push(index);
    }
    from = end;
  }
  return grouped;
}

function draftsOf(modules: readonly FlatModule[]): { drafts: Draft[]; roots: number[] } {
  const drafts: Draft[] = [];
  const roots: number[] = [];
  const byKey = new Map<string, number>();
  for (const flat of modules) {
    if (byKey.has(flat.key)) continue;
    const parent = flat.parentKey === null ? null : (byKey.get(flat.parentKey) ?? null);
    const above = parent === null ? undefined : drafts[parent];
    const index = drafts.push({ flat, name: nameOf(flat, above?.flat.path ?? null), parent, children: [], group: false }) - 1;
    byKey.set(flat.key, index);
    (above?.children ?? roots).push(index);
  }
  return { drafts, roots };
}

/** Parents first, by the links alone: groups were added behind their members. */
function inOrder(drafts: readonly Draft[], roots: readonly number[]): { index: number; depth: number }[] {
  const order: { index: number; depth: number }[] = [];
  const stack = roots.map((index) => ({ index, depth: 1 })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    order.push(next);
    const below = drafts[next.index]?.children ?? [];
    for (let i = below.length - 1; i >= 0; i -= 1) stack.push({ index: below[i] ?? 0, depth: next.depth + 1 });
  }
  return order;
}

function addEvidence(to: Record<string, number>, from: NsMap): void {
  for (const [name, ns] of Object.entries(from)) to[name] = (to[name] ?? 0) + ns;
}

/** Makes the tree of rows. With `grouped`, like siblings in a row (36 layers) are one row to open. */
export function buildTree(
  modules: readonly FlatModule[],
  columns: readonly ComparedColumn[],
  total: number,
  grouped: boolean,
): ModuleTree {
  const { drafts, roots } = draftsOf(modules);
  const count = drafts.length;
  let top = roots;
  if (grouped) {
    for (let index = 0; index < count; index += 1) {
      const draft = drafts[index];
      if (draft !== undefined) draft.children = groupChildren(drafts, draft.children, index);
    }
    top = groupChildren(drafts, roots, null);
  }
  const order = inOrder(drafts, top);
  const depths = new Map(order.map(({ index, depth }) => [index, depth]));
  const below: Record<string, number>[] = drafts.map((draft) => ({ ...draft.flat.evidence }));
  for (const { index } of [...order].reverse()) {
    const parent = drafts[index]?.parent ?? null;
    const sum = parent === null ? undefined : below[parent];
    if (sum !== undefined) addEvidence(sum, below[index] ?? {});
  }
  const nodes = drafts.map((draft, index): TreeNode => ({
    ...draft.flat,
    index,
    name: draft.name,
    parent: draft.parent,
    children: draft.children,
    group: draft.group,
    depth: depths.get(index) ?? 1,
    evidenceBelow: below[index] ?? {},
  }));
  const byPath = new Map<string, number>();
  for (const node of nodes) if (node.path !== '' && !byPath.has(node.path)) byPath.set(node.path, node.index);
  return { nodes, roots: top, byPath, columns, total };
}

/** What a share refers to: the parent, a group's own parent for its members too, else the whole. */
export function parentGpu(tree: ModuleTree, node: TreeNode, column: number | null): number | null {
  const whole = column === null ? tree.total : (tree.columns[column]?.total ?? null);
  const above = node.parent === null ? undefined : tree.nodes[node.parent];
  if (above === undefined) return whole;
  return column === null ? above.spent.gpu : (above.compared[column]?.gpu ?? null);
}

/** The same for another figure of a compared column; roots are measured by all of them together. */
export function parentOf(tree: ModuleTree, node: TreeNode, column: number, figure: keyof Spent): number | null {
  if (figure === 'gpu') return parentGpu(tree, node, column);
  const above = node.parent === null ? undefined : tree.nodes[node.parent];
  if (above !== undefined) return above.compared[column]?.[figure] ?? null;
  return tree.roots.reduce((sum, root) => sum + (tree.nodes[root]?.compared[column]?.[figure] ?? 0), 0);
}
