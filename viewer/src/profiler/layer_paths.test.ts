import { describe, expect, it } from 'vitest';
import { layerPathsOf } from './layer_paths';

describe('layers and modules', () => {
  const paths = layerPathsOf(['m.layers.0', 'm.layers.1', null]);

  it('meet by path, and for what is inside a layer', () => {
    expect(paths.pathOf(1)).toBe('m.layers.1');
    expect(paths.layerOf('m.layers.1.mlp.down')).toBe(1);
  });

  it('do not where nothing tells', () => {
    expect([paths.pathOf(2), paths.pathOf(9), paths.layerOf('m'), paths.layerOf('m.layers.10')]).toEqual([null, null, null, null]);
  });
});
