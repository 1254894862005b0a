import { describe, expect, it } from 'vitest';
import type { ModuleNode, ModulesData } from '../data/analyses';
import { UNATTRIBUTED, fromModules } from './from_modules';

function node(id: number, parent: number | null, path: string, incl: number, excl: number): ModuleNode {
  return {
    id, parent, path, depth: path.split('.').length, class: 'C', instance: null, calls: 1, cpu_ns: 0, cpu_self_ns: 0, gpu_incl_ns: incl,
    gpu_excl_ns: excl, gpu_busy_ns: incl, kernels_incl: 1, kernels_excl: 1, activities_incl: 1, activities_excl: 1, evidence: {},
    device: 0, rank: null, pid: 1,
  };
}

function data(nodes: readonly ModuleNode[], rest = 7): ModulesData {
  return { nodes, unattributed: { gpu_ns: rest, kernels: 2, by_reason: {} }, total: { gpu_ns: 50, kernels: 9 } };
}

const TOP = data([node(0, null, 'm', 43, 3), node(1, 0, 'm.a', 40, 0)]);
const BELOW = data([node(0, null, 'm.a', 40, 0), node(1, 0, 'm.a.x', 40, 40)]);

describe('lists of modules', () => {
  it('say where more can be loaded, until it is', () => {
    const cut = fromModules([{ run: TOP, compared: [] }], true);
    expect(cut.map(({ path, more }) => [path, more])).toEqual([['m', false], ['m.a', true], [UNATTRIBUTED, false]]);
    const whole = fromModules([{ run: TOP, compared: [] }, { run: BELOW, compared: [] }], true);
    expect(whole.filter(({ more }) => more)).toEqual([]);
    expect(whole.find(({ path }) => path === 'm.a.x')?.parentKey).toBe(whole.find(({ path }) => path === 'm.a')?.key);
  });

  it('add up: roots and what no module has are the whole', () => {
    const rows = fromModules([{ run: TOP, compared: [] }], false);
    const roots = rows.filter(({ parentKey }) => parentKey === null);
    expect(roots.reduce((sum, { spent }) => sum + (spent.gpu ?? 0), 0)).toBe(50);
  });

  it('tell a module that a pass lacks from one that is not loaded', () => {
    const pass = data([node(0, null, 'm', 5, 5)], 1);
    const rows = fromModules([{ run: TOP, compared: [pass, null] }], false);
    expect(rows.map(({ compared }) => compared.map((spent) => spent?.gpu ?? null))).toEqual([[5, null], [null, null], [1, null]]);
  });

  it('do not know what a replayed pass cost on the host: it called nothing there', () => {
    const rows = fromModules([{ run: TOP, compared: [data([node(0, null, 'm', 5, 5)])] }], false);
    expect(rows[0]?.compared[0]).toMatchObject({ gpu: 5, cpu: null, calls: 1 });
    const idle = { ...node(0, null, 'm', 0, 0), calls: 0, kernels_incl: 0 };
    expect(fromModules([{ run: data([idle]), compared: [] }], false)[0]?.spent.cpu).toBe(0);
  });
});
