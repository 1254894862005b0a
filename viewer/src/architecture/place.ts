import { batch } from '@preact/signals';
import { param, select, selection, setParam } from '../state/state';
import { findPath, pathIn } from './document';
import type { ArchModel, Metric } from './model';
import type { Place, ViewName, Where } from './view';
import { layerAt, placeOfSelection, resolve } from './view';

const VIEW = 'arch.view';
const NODE = 'arch.node';
const METRIC = 'arch.time';
const VIEWS: readonly ViewName[] = ['vTop', 'vMod', 'vLayer', 'vStep'];

/** The module path that the other tabs see selected while this tab stands somewhere. */
function moduleOf(model: ArchModel, place: Place): string | null {
  const where = resolve(model, place);
  if (where.view === 'vTop') return null;
  if (where.view === 'vLayer') return where.layer?.path ?? null;
  return where.node === null ? null : pathIn(where.node, where.layer);
}

/**
 * Where the tab stands. The address says it; when the selection was changed elsewhere (a module in the
 * Profiler, a layer on the timeline) it wins, so that the tab follows.
 */
export function currentWhere(model: ArchModel): Where {
  const { module, layer } = selection.value;
  const view = VIEWS.find((name) => name === param(VIEW)) ?? 'vTop';
  const asked: Place = { view, node: param(NODE), layer };
  const where = resolve(model, asked);
  const isOwn = module === moduleOf(model, asked) && (layer === null || where.view !== 'vTop') && layer === (where.layer?.index ?? null);
  if (isOwn) return where;
  const node = module === null ? null : findPath(model, module);
  return resolve(model, placeOfSelection(model, node, module, layerAt(model, layer) === null ? null : layer));
}

/** Goes there, and tells the other tabs what is looked at. */
export function go(model: ArchModel, place: Place): void {
  // At once, so that a step is one entry of the browser's history.
  batch(() => {
    setParam(VIEW, place.view === 'vTop' ? null : place.view);
    setParam(NODE, place.node);
    select({ module: moduleOf(model, place), layer: place.layer });
  });
}

/** The block that the address names, whether there is one of that name or not. */
export function chosenNode(): string | null {
  return param(NODE);
}

export function chosenMetric(model: ArchModel): Metric {
  if (model.totalGpuNs === null) return 'cpu';
  return param(METRIC) === 'cpu' ? 'cpu' : 'gpu';
}

export function chooseMetric(metric: Metric): void {
  setParam(METRIC, metric === 'gpu' ? null : metric);
}
