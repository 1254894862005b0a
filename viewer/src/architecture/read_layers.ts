import type { ArchNode, Layer } from './model';
import { timeOf } from './model';
import { asList, asNumber, asObject, asText, nsOfUs } from '../data/raw';
import type { RawObject } from '../data/raw';

/** "A" … "Z", then "T26": the names that `layerscope map` gives to types. */
export function typeName(at: number): string {
  return at < 26 ? String.fromCharCode(65 + at) : `T${at}`;
}

interface Seat {
  readonly fold: ArchNode;
  readonly member: number;
}

/** The path that each member of a fold has by itself: `a.Layer_0..35` holds `a.Layer_3`. */
function memberPaths(fold: ArchNode): readonly string[] {
  if (fold.repeat === 1) return [fold.path];
  const stem = fold.path.endsWith(fold.name) ? fold.path.slice(0, fold.path.length - fold.name.length) : '';
  return fold.members.map((member) => stem + member);
}

/** Outermost folds, and modules beside them that stand alone: where layers can be. */
function seatsByPath(root: ArchNode): Map<string, Seat> {
  const seats = new Map<string, Seat>();
  const visit = (node: ArchNode): void => {
    if (node.kind !== 'module') return;
    memberPaths(node).forEach((path, member) => {
      if (!seats.has(path)) seats.set(path, { fold: node, member });
    });
    if (node.repeat === 1) node.items.forEach(visit);
  };
  visit(root);
  return seats;
}

function readPerLayer(entries: readonly RawObject[], root: ArchNode): Layer[] {
  const seats = seatsByPath(root);
  return entries.map((raw, at) => {
    const path = asText(raw.path);
    const seat = path === null ? undefined : seats.get(path);
    return {
      index: asNumber(raw.index) ?? at,
      type: asText(raw.type) ?? 'A',
      path,
      title: asText(raw.class),
      gpuNs: asNumber(raw.gpu_ns),
      cpuNs: asNumber(raw.cpu_ns) ?? nsOfUs(raw.dur_us),
      kernels: asNumber(raw.kernels),
      fold: seat?.fold ?? null,
      member: seat?.member ?? 0,
    };
  });
}

/** The folds beside each other that have the most time; for documents that name no layers. */
function heaviestFolds(root: ArchNode): readonly ArchNode[] {
  let best: readonly ArchNode[] = [];
  let bestNs = -1;
  const visit = (node: ArchNode): void => {
    const folds = node.items.filter((item) => item.kind === 'module' && item.repeat > 1);
    const ns = folds.reduce((sum, fold) => sum + (timeOf(fold, 'gpu') ?? timeOf(fold, 'cpu') ?? 0), 0);
    if (folds.length > 0 && ns > bestNs) [best, bestNs] = [folds, ns];
    node.items.forEach((item) => {
      if (item.kind === 'module' && item.repeat === 1) visit(item);
    });
  };
  if (root.repeat > 1) return [root];
  visit(root);
  return best;
}

function layersOfFolds(folds: readonly ArchNode[]): Layer[] {
  const types = new Map<string, string>();
  let index = 0;
  return folds.flatMap((fold) => {
    const type = types.get(fold.title) ?? typeName(types.size);
    types.set(fold.title, type);
    return Array.from({ length: fold.repeat }, (_, member) => ({
      index: index++,
      type,
      path: memberPaths(fold)[member] ?? null,
      title: fold.title,
      gpuNs: fold.layers?.gpu?.[member] ?? null,
      cpuNs: fold.layers?.cpu?.[member] ?? null,
      kernels: null,
      fold,
      member,
    }));
  });
}

/** More than any model has; a document that says more is not believed. */
const MAX_LAYERS = 20_000;

export function readLayers(perLayer: unknown, root: ArchNode): readonly Layer[] {
  const entries = asList(perLayer)
    .map(asObject)
    .filter((raw): raw is RawObject => raw !== null)
    .slice(0, MAX_LAYERS);
  if (entries.length > 0) return readPerLayer(entries, root);
  const folds = heaviestFolds(root);
  return folds.reduce((sum, fold) => sum + fold.repeat, 0) > MAX_LAYERS ? [] : layersOfFolds(folds);
}
