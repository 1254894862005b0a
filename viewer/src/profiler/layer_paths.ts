import type { LayersData } from '../data/analyses';
import type { ModuleTree } from './module_tree';

/** Which module is which layer, both ways. */
export interface LayerPaths {
  readonly pathOf: (layer: number) => string | null;
  readonly layerOf: (path: string) => number | null;
}

export const NO_LAYER_PATHS: LayerPaths = { pathOf: () => null, layerOf: () => null };

export function layerPathsOf(paths: readonly (string | null)[]): LayerPaths {
  const layers = new Map(paths.flatMap((path, layer) => (path === null ? [] : [[path, layer] as const])));
  return {
    pathOf: (layer) => paths[layer] ?? null,
    layerOf: (path) => {
      for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
        const layer = layers.get(at);
        if (layer !== undefined) return layer;
      }
      return null;
    },
  };
}

/**
 * Layers found in the order of kernels name the class of module that agrees with them; its modules
 * are the layers, in order, where there is one for each.
 */
export function layersInTree(tree: ModuleTree, layers: LayersData): LayerPaths {
  const wanted = layers.modules?.class;
  const n = layers.layers?.length ?? 0;
  if (wanted === undefined || n === 0) return NO_LAYER_PATHS;
  const paths = tree.nodes.filter((node) => node.class === wanted && !node.group).map((node) => node.path);
  return paths.length === n ? layerPathsOf(paths) : NO_LAYER_PATHS;
}
