import type { CompiledRegion, GraphAlignment } from '../data/analyses';
import type { TreeNode } from './module_tree';

/** Evidence that only kernels of a replayed graph have. */
const REPLAYED = ['graph_node', 'capture_alignment', 'eager_alignment', 'template'] as const;

/** How the work of a module came to the GPU, as far as the evidence tells. */
export interface LaunchMode {
  /** Short word for the row; empty where nothing tells. */
  readonly word: string;
  readonly kind: 'eager' | 'graph' | 'mixed' | 'compiled' | 'unknown';
  readonly says: string;
}

/** What is known of the whole run and bears on each row. */
export interface RunMode {
  readonly regions: readonly CompiledRegion[];
  /** Time of graph launches inside module scopes, which looks like eager time in the evidence. */
  readonly hiddenNs: number;
}

export const UNKNOWN_MODE: RunMode = { regions: [], hiddenNs: 0 };

export function hasReplays(alignment: readonly GraphAlignment[]): boolean {
  return alignment.some((graph) => graph.launches > 0);
}

function compiledAt(node: TreeNode, run: RunMode): CompiledRegion | undefined {
  return run.regions.find((region) => region.module !== null && region.module === node.path);
}

export function launchMode(node: TreeNode, run: RunMode): LaunchMode {
  const region = compiledAt(node, run);
  if (region !== undefined) {
    return { word: 'compiled', kind: 'compiled', says: 'torch.compile made the code of this module; its parts keep no modules of their own' };
  }
  const replayed = REPLAYED.reduce((sum, name) => sum + (node.evidenceBelow[name] ?? 0), 0);
  const launched = node.evidenceBelow.launch_correlation ?? 0;
  if (replayed === 0 && launched === 0) {
    return { word: '', kind: 'unknown', says: 'no GPU time says how it was launched' };
  }
  if (launched === 0) return { word: 'graph', kind: 'graph', says: 'all kernels were replayed by a graph' };
  if (replayed > 0) {
    const percent = Math.round((100 * replayed) / (replayed + launched));
    return {
      word: `graph ${percent}\u00a0%`,
      kind: 'mixed',
      says: `${percent} % of its time was replayed by a graph, the rest was launched one by one`,
    };
  }
  if (run.hiddenNs > 0) {
    return { word: 'launched', kind: 'unknown', says: 'launched in this module, one by one or by a graph: this trace has both' };
  }
  return { word: 'eager', kind: 'eager', says: 'each kernel was launched by the host' };
}
