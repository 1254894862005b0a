import type { ArchModel, ArchNode, Layer, Rank } from './model';
import { lineage } from './model';
import type { RawObject } from '../data/raw';
import { asList, asNumber, asObject, asText, countsOf } from '../data/raw';
import type { Reading } from './read_node';
import { readGroup, readItems, readModule } from './read_node';
import { readLayers } from './read_layers';

export const BEFORE_ID = 'pre';
export const ROOT_ID = '0';
export const AFTER_ID = 'post';
export const FOUND_ID = 'layers';

/** What the map puts around several roots, or around none: no module of the model. */
const WRAPPER = '[forward]';

function phasesText(raw: RawObject): string | null {
  const phases = Object.entries(countsOf(raw.phases));
  const mode = asText(raw.mode);
  if (phases.length > 1) return phases.map(([name, n]) => `${n} ${name}`).join(', ');
  return mode;
}

function engineText(raw: RawObject): string | null {
  const engine = asObject(raw.engine);
  if (engine === null) return asText(raw.engine);
  const name = asText(engine.name);
  const version = asText(engine.version);
  return name === null ? null : version === null ? name : `${name} ${version}`;
}

function readFacts(raw: RawObject): { label: string; value: string }[] {
  const device = asText(raw.gpu_name) ?? asText(raw.device);
  const forwards = asNumber(raw.iterations);
  const facts: [string, string | null][] = [
    ['device', device],
    ['dtype', asText(raw.dtype)],
    ['engine', engineText(raw)],
    ['forwards', forwards === null ? null : String(forwards)],
    ['phase', phasesText(raw)],
    ['layer pattern', asText(raw.layer_pattern)],
  ];
  return facts.flatMap(([label, value]) => (value === null ? [] : [{ label, value }]));
}

function readRanks(value: unknown): Rank[] {
  return asList(value).map((item) => {
    const raw = asObject(item) ?? {};
    return { rank: asNumber(raw.rank), gpuNs: asNumber(raw.gpu_ns) };
  });
}

/** Layers that no module stands for: one block with the ops of one layer, beside the tree. */
function foundLayers(raw: RawObject, layers: readonly Layer[], reading: Reading): ArchNode | null {
  if (layers.length === 0 || layers.some((layer) => layer.fold !== null)) return null;
  const gpu = layers.map((layer) => layer.gpuNs);
  const fold = readModule(
    {
      class: 'layers found in the order of kernels',
      name: 'layers',
      path: '',
      repeat: layers.length,
      gpu_ns: gpu.reduce<number>((sum, ns) => sum + (ns ?? 0), 0),
      kernels: layers.reduce((sum, layer) => sum + (layer.kernels ?? 0), 0),
      all_layer_gpu_ns: gpu,
      members: layers.map((layer) => `layer ${layer.index}`),
    },
    { id: FOUND_ID, parent: null, depth: 0 },
    reading,
  ) as { -readonly [K in keyof ArchNode]: ArchNode[K] };
  fold.items = readItems([], asList(raw.layer_template), fold, 1, reading);
  return fold;
}

/** Null where the value is no such document. */
export function readModel(value: unknown): ArchModel | null {
  const raw = asObject(value);
  const tree = asObject(raw?.module_tree);
  if (raw === null || tree === null) return null;
  const reading: Reading = { byId: new Map(), leftOut: 0 };
  const noModules = asText(tree.class) === WRAPPER && asList(tree.children).length === 0;
  const before = readGroup(noModules ? 'ops, in no module' : 'before the model', BEFORE_ID, raw.pre_model_ops, reading);
  const root = readModule(tree, { id: ROOT_ID, parent: null, depth: 0 }, reading);
  const after = readGroup('after the model', AFTER_ID, raw.post_model_ops, reading);
  let layers = readLayers(raw.per_layer, root);
  const found = foundLayers(raw, layers, reading);
  if (found !== null) layers = layers.map((layer, member) => ({ ...layer, fold: found, member }));
  const typeOfFold = new Map(layers.flatMap((layer) => (layer.fold === null ? [] : [[layer.fold, layer.type] as const])));
  const stats = asObject(raw.stats) ?? {};
  const unattributed = asObject(raw.unattributed) ?? {};
  const legacy = asNumber(tree.gpu_ns) === null;
  const cpu = [before, root, after].map((node) => node?.cpuNs ?? null);
  return {
    title: asText(raw.model) ?? (isWrapper(root) ? 'Model not known' : root.title),
    noModules,
    facts: readFacts(raw),
    before,
    root,
    after,
    found,
    flow: [before, ...(isWrapper(root) ? root.items : [root]), after].filter((node): node is ArchNode => node !== null),
    layers,
    layerPattern: asText(raw.layer_pattern),
    layerSource: asText(raw.layer_source),
    layerTypes: [...new Set(layers.map((layer) => layer.type))],
    layerFolds: new Set(typeOfFold.keys()),
    typeOfFold,
    totalGpuNs: asNumber(stats.total_gpu_ns) ?? (legacy ? null : root.gpuNs),
    totalCpuNs: cpu.every((ns) => ns === null) ? null : cpu.reduce<number>((sum, ns) => sum + (ns ?? 0), 0),
    unattributedNs: asNumber(unattributed.gpu_ns),
    withoutOpNs: asNumber(unattributed.without_op_ns),
    forwards: asNumber(raw.iterations),
    ranks: readRanks(raw.ranks),
    cpuOnly: asText(raw.device) === 'cpu',
    legacy,
    byId: reading.byId,
    nodeCount: reading.byId.size,
    leftOut: reading.leftOut,
  };
}

function isWrapper(root: ArchNode): boolean {
  return root.title === WRAPPER && root.repeat === 1;
}

/** The deepest node that a module path (of the Profiler, of a layer) leads to, and the member. */
export function findPath(model: ArchModel, path: string): ArchNode | null {
  let exact: ArchNode | null = null;
  for (const node of model.byId.values()) {
    if (node.kind === 'module' && node.path === path) exact = node;
    if (exact !== null) return exact;
  }
  const layer = layerOfPath(model, path);
  if (layer?.fold == null) return null;
  const stem = layer.path ?? '';
  let at: ArchNode = layer.fold;
  const rest = path.slice(stem.length + 1);
  if (rest === '') return at;
  for (const name of rest.split('.')) {
    const next = at.items.find((item) => item.kind === 'module' && memberName(item, layer.member) === name);
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

/** The layer that a module path lies in: the path is the layer's or below it. */
export function layerOfPath(model: ArchModel, path: string): Layer | null {
  let best: Layer | null = null;
  for (const layer of model.layers) {
    if (layer.path === null) continue;
    if (path === layer.path || path.startsWith(`${layer.path}.`)) {
      if (best === null || layer.path.length > (best.path ?? '').length) best = layer;
    }
  }
  return best;
}

/** What a node inside a fold is called in one member. */
export function memberName(node: ArchNode, member: number): string {
  return node.members[member] ?? node.name;
}

/** The module path of a node in one layer, as the Profiler names it; null for what has none. */
export function pathIn(node: ArchNode, layer: Layer | null): string | null {
  if (node.kind === 'group') return null;
  const line = lineage(node).filter((at) => at.kind === 'module');
  const last = line[line.length - 1];
  if (last === undefined || last.path === '') return null;
  const foldAt = line.findIndex((at) => at.repeat > 1);
  if (foldAt < 0 || layer?.path == null || layer.fold !== line[foldAt]) return last.path;
  const names = line.slice(foldAt + 1).map((at) => memberName(at, layer.member));
  return [layer.path, ...names].join('.');
}
