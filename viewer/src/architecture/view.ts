import { layerOfPath } from './document';
import type { ArchModel, ArchNode, Layer } from './model';
import { foldOf, lineage } from './model';

/** Where the tab stands. The four views are known by these names, in the address too. */
export type ViewName = 'vTop' | 'vMod' | 'vLayer' | 'vStep';

export interface Place {
  readonly view: ViewName;
  /** `ArchNode.id`; null in vTop, and in vLayer when the layer says it all. */
  readonly node: string | null;
  /** Index of a layer of the model; null for all. */
  readonly layer: number | null;
}

export const TOP: Place = { view: 'vTop', node: null, layer: null };

/** A place with what its names stand for in a document. */
export interface Where {
  readonly view: ViewName;
  readonly node: ArchNode | null;
  readonly layer: Layer | null;
}

export function layerAt(model: ArchModel, index: number | null): Layer | null {
  if (index === null) return null;
  return model.layers.find((layer) => layer.index === index) ?? null;
}

/** What is not in the document falls back to the nearest view that is. */
export function resolve(model: ArchModel, place: Place): Where {
  const layer = layerAt(model, place.layer);
  const node = place.node === null ? null : (model.byId.get(place.node) ?? null);
  if (place.view === 'vLayer') {
    return layer === null ? { view: 'vTop', node: null, layer: null } : { view: 'vLayer', node: layer.fold, layer };
  }
  if (place.view === 'vTop' || node === null) return { view: 'vTop', node: null, layer };
  const view = place.view === 'vStep' || node.kind === 'op' ? 'vStep' : 'vMod';
  const within = layer !== null && foldOf(node) === layer.fold ? layer : null;
  return { view, node, layer: within };
}

/** Where a click on a block leads. */
export function drillInto(node: ArchNode, layer: Layer | null): Place {
  const index = layer !== null && foldOf(node) === layer.fold ? layer.index : null;
  return { view: node.kind === 'op' ? 'vStep' : 'vMod', node: node.id, layer: index };
}

export interface Crumb {
  readonly key: string;
  readonly text: string;
  readonly badge: string | null;
  readonly place: Place;
}

/** From the whole model to where we stand; the last one is where we stand. */
export function breadcrumb(model: ArchModel, where: Where): Crumb[] {
  const crumbs: Crumb[] = [{ key: 'top', text: 'Whole model', badge: null, place: TOP }];
  if (where.view === 'vTop') return crumbs;
  const index = where.layer?.index ?? null;
  for (const node of where.node === null ? [] : lineage(where.node)) {
    if (node === model.root) continue;
    const inLayer = where.layer !== null && node !== where.layer.fold && foldOf(node) === where.layer.fold;
    crumbs.push({
      key: node.id,
      text: node.title,
      badge: node.repeat > 1 ? `×${node.repeat}` : null,
      place: drillInto(node, inLayer ? where.layer : null),
    });
    if (node === where.layer?.fold) {
      crumbs.push({
        key: 'layer',
        text: `layer ${where.layer.index}`,
        badge: where.layer.type,
        place: { view: 'vLayer', node: null, layer: index },
      });
    }
  }
  if (where.view === 'vLayer' && where.node === null && where.layer !== null) {
    crumbs.push({
      key: 'layer',
      text: `layer ${where.layer.index}`,
      badge: where.layer.type,
      place: { view: 'vLayer', node: null, layer: index },
    });
  }
  return crumbs;
}

/** One step up; null at the top. */
export function above(model: ArchModel, where: Where): Place | null {
  const crumbs = breadcrumb(model, where);
  return crumbs[crumbs.length - 2]?.place ?? null;
}

/** The view of a module path and a layer that another tab selected. */
export function placeOfSelection(
  model: ArchModel,
  node: ArchNode | null,
  path: string | null,
  layer: number | null,
): Place {
  const within = layerAt(model, layer) ?? (path === null ? null : layerOfPath(model, path));
  if (node !== null && node !== within?.fold && node !== model.root) return drillInto(node, within);
  if (within !== null) return { view: 'vLayer', node: null, layer: within.index };
  return TOP;
}
