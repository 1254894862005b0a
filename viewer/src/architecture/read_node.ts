import type { Arg, ArchNode, Kernel, LayerValues, PassSpread } from './model';
import type { RawObject } from '../data/raw';
import { asList, asNumber, asObject, asText, countsOf, nsOfUs, numbersOf, textsOf } from '../data/raw';

/** Deeper nodes are counted and left out; `layerscope map` ends at 64 modules and 16 ops. */
const MAX_DEPTH = 120;

const COMPILED_OP = /^(Torch-Compiled Region|## Call CompiledFxGraph|AOTDispatcher|Pregraph bytecode|triton_(poi|red|per|tem|for)_)/;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What is gathered while a document is read. */
export interface Reading {
  readonly byId: Map<string, ArchNode>;
  leftOut: number;
}

interface Place {
  readonly id: string;
  readonly parent: ArchNode | null;
  readonly depth: number;
}

function readArgs(value: unknown): Arg[] {
  return asList(value).map((item) => {
    const raw = asObject(item) ?? {};
    return {
      name: asText(raw.name) ?? '',
      shape: Array.isArray(raw.shape) ? (raw.shape as unknown[]) : null,
      dtype: asText(raw.dtype),
    };
  });
}

function textOrNumber(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : asText(value);
}

/** Grid, stream and launch are those of the longest run, as far as the trace has them. */
function readKernels(raw: RawObject): Kernel[] {
  return asList(raw.gpu_kernels).map((item) => {
    const kernel = asObject(item) ?? {};
    const longest = asObject(kernel.longest_run) ?? {};
    return {
      name: asText(kernel.name) ?? '',
      role: asText(kernel.role),
      n: asNumber(kernel.n),
      gpuNs: asNumber(kernel.gpu_ns),
      longestNs: asNumber(longest.gpu_ns),
      grid: textOrNumber(longest.grid),
      block: textOrNumber(longest.block),
      device: textOrNumber(longest.device),
      stream: textOrNumber(longest.stream),
      launch: asText(longest.launch),
    };
  });
}

function readPasses(value: unknown): PassSpread | null {
  const raw = asObject(value);
  const n = asNumber(raw?.n);
  const avgNs = asNumber(raw?.avg_gpu_ns);
  const minNs = asNumber(raw?.min_gpu_ns);
  const maxNs = asNumber(raw?.max_gpu_ns);
  if (n === null || avgNs === null || minNs === null || maxNs === null) return null;
  return { n, avgNs, minNs, maxNs };
}

function readLayerValues(raw: RawObject): LayerValues | null {
  const gpu = numbersOf(raw.all_layer_gpu_ns);
  const durs = raw.all_layer_durs ?? raw.per_layer_dur;
  const cpu = Array.isArray(durs) ? durs.map(nsOfUs) : null;
  return gpu === null && cpu === null ? null : { gpu, cpu };
}

function total(values: readonly (number | null)[] | null): number | null {
  if (values === null || values.every((value) => value === null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/**
 * Without our keys: one writer gives an op the time of its own first kernel, another that of all
 * kernels below it too. The larger of the op's and of what stands below it is wrong for neither.
 */
function legacyOpGpu(raw: RawObject, below: readonly ArchNode[]): number | null {
  const own = nsOfUs(raw.gpu_dur_us);
  const inside = total(below.map((item) => item.gpuNs));
  if (own === null && inside === null) return asText(raw.gpu_note) === null ? null : 0;
  return Math.max(own ?? 0, inside ?? 0);
}

function emptyNode(place: Place): Mutable<ArchNode> {
  return {
    id: place.id,
    kind: 'module',
    name: '',
    title: '',
    path: '',
    parent: place.parent,
    items: [],
    gpuNs: null,
    cpuNs: null,
    ownNs: null,
    busyNs: null,
    kernels: null,
    calls: null,
    evidence: {},
    passes: null,
    rankGpu: null,
    repeat: 1,
    members: [],
    layers: null,
    dims: null,
    args: [],
    kernelName: null,
    role: null,
    note: null,
    kernelList: [],
    compiled: false,
  };
}

function commonFields(node: Mutable<ArchNode>, raw: RawObject): void {
  node.layers = readLayerValues(raw);
  node.gpuNs = asNumber(raw.gpu_ns);
  node.cpuNs = asNumber(raw.cpu_ns) ?? total(node.layers?.cpu ?? null) ?? nsOfUs(raw.dur_us);
  node.ownNs = asNumber(raw.gpu_own_ns);
  node.busyNs = asNumber(raw.gpu_busy_ns);
  node.kernels = asNumber(raw.kernels);
  node.calls = asNumber(raw.calls);
  node.evidence = countsOf(raw.evidence);
  node.passes = readPasses(raw.passes);
  node.rankGpu = numbersOf(raw.rank_gpu_ns);
}

export function readOp(raw: RawObject, place: Place, reading: Reading): ArchNode {
  const node = emptyNode(place);
  commonFields(node, raw);
  node.kind = 'op';
  node.name = asText(raw.op) ?? '[no op]';
  node.title = node.name;
  node.path = place.parent?.path ?? '';
  node.dims = asText(raw.dims);
  node.args = readArgs(raw.args);
  node.kernelName = asText(raw.gpu) ?? asText(raw.gpu_display);
  node.role = asText(raw.gpu_role);
  node.note = asText(raw.gpu_note);
  node.kernelList = readKernels(raw);
  node.compiled = COMPILED_OP.test(node.name) || COMPILED_OP.test(node.kernelName ?? '');
  reading.byId.set(node.id, node);
  const below = asList(raw.sub_ops);
  if (place.depth >= MAX_DEPTH) reading.leftOut += below.length;
  else node.items = readItems([], below, node, place.depth + 1, reading);
  node.gpuNs ??= legacyOpGpu(raw, node.items);
  return node;
}

function moduleTitle(raw: RawObject): string {
  return asText(raw.class) ?? asText(raw.name) ?? '[module]';
}

export function readModule(raw: RawObject, place: Place, reading: Reading): ArchNode {
  const node = emptyNode(place);
  commonFields(node, raw);
  node.title = moduleTitle(raw);
  const instance = asNumber(raw.instance);
  node.name = asText(raw.name) ?? `${node.title}_${instance ?? 0}`;
  const above = place.parent?.path ?? '';
  node.path = typeof raw.path === 'string' ? raw.path : above === '' ? node.name : `${above}.${node.name}`;
  node.repeat = Math.max(1, asNumber(raw.repeat) ?? 1);
  node.members = textsOf(raw.members);
  reading.byId.set(node.id, node);
  const children = asList(raw.children);
  const ops = asList(raw.ops);
  if (place.depth >= MAX_DEPTH) reading.leftOut += children.length + ops.length;
  else node.items = readItems(children, ops, node, place.depth + 1, reading);
  node.compiled =
    node.title === 'OptimizedModule' || node.items.some((item) => item.kind === 'op' && item.compiled);
  return node;
}

/** Modules and ops of one parent in the order in which they ran (`seq`; without it as listed). */
export function readItems(
  modules: readonly unknown[],
  ops: readonly unknown[],
  parent: ArchNode,
  depth: number,
  reading: Reading,
): ArchNode[] {
  const entries = [
    ...modules.map((item) => ({ module: true, raw: asObject(item) })),
    ...ops.map((item) => ({ module: false, raw: asObject(item) })),
  ].flatMap(({ module, raw }) => (raw === null ? [] : [{ module, raw, seq: asNumber(raw.seq) }]));
  const ordered = entries.every((entry) => entry.seq !== null)
    ? [...entries].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
    : entries;
  return ordered.map(({ module, raw }, at) => {
    const place = { id: `${parent.id}.${at}`, parent, depth };
    return module ? readModule(raw, place, reading) : readOp(raw, place, reading);
  });
}

/** Ops that stand beside the modules, as one block. Null without any. */
export function readGroup(name: string, id: string, ops: unknown, reading: Reading): ArchNode | null {
  const list = asList(ops);
  if (list.length === 0) return null;
  const node = emptyNode({ id, parent: null, depth: 0 });
  node.kind = 'group';
  node.name = name;
  node.title = name;
  reading.byId.set(id, node);
  node.items = readItems([], list, node, 1, reading);
  node.gpuNs = total(node.items.map((item) => item.gpuNs));
  node.cpuNs = total(node.items.map((item) => item.cpuNs));
  node.kernels = total(node.items.map((item) => item.kernels));
  const evidence = Object.create(null) as Record<string, number>;
  for (const item of node.items) {
    for (const [key, ns] of Object.entries(item.evidence)) evidence[key] = (evidence[key] ?? 0) + ns;
  }
  node.evidence = evidence;
  return node;
}
