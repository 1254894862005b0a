import type { ArchNode, Kernel, Metric } from './model';
import { heaviestOp } from './flow';

/** From an op down to its kernels: op, the ops below that launch, the launch, the kernels. */
export interface KernelChain {
  /** The op and the way to the one below it that has the kernels. */
  readonly ops: readonly ArchNode[];
  readonly launch: string;
  /** True where the document names the call. */
  readonly launchKnown: boolean;
  /** Heaviest first; empty where the op launched none. */
  readonly kernels: readonly Kernel[];
  /** Why there is none. */
  readonly note: string | null;
}

const REPLAYED = ['graph_node', 'capture_alignment', 'eager_alignment'] as const;

function launchOf(op: ArchNode, kernels: readonly Kernel[]): { launch: string; known: boolean } {
  const names = [...new Set(kernels.flatMap((kernel) => (kernel.launch === null ? [] : [kernel.launch])))];
  const replayed = REPLAYED.some((name) => (op.evidence[name] ?? 0) > 0);
  if (names.length > 0) {
    const isMixed = replayed && names.every((name) => !/graph/i.test(name));
    return { launch: isMixed ? `${names.join(', ')}, and graph replays` : names.join(', '), known: true };
  }
  const called = (op.evidence.launch_correlation ?? 0) > 0;
  if (replayed && called) return { launch: 'a call of the host, and a graph replay', known: false };
  if (replayed) return { launch: 'a graph replay', known: false };
  if (called) return { launch: 'a call of the host', known: false };
  return { launch: 'unknown', known: false };
}

/** Kernels by the list, else (older documents) the one that is named. */
function kernelsOf(op: ArchNode): readonly Kernel[] {
  if (op.kernelList.length > 0) return [...op.kernelList].sort((a, b) => (b.gpuNs ?? 0) - (a.gpuNs ?? 0));
  if (op.kernelName === null) return [];
  const only = { longestNs: null, grid: null, block: null, device: null, stream: null, launch: null };
  return [{ name: op.kernelName, role: op.role, n: op.kernels, gpuNs: op.gpuNs, ...only }];
}

/** Follows the op with the most time until one has kernels of its own. */
export function chainOf(node: ArchNode, metric: Metric): KernelChain | null {
  const first = heaviestOp(node, metric);
  if (first === null) return null;
  const ops = [first];
  for (let at = first; at.kernelList.length === 0; ) {
    const next: ArchNode | undefined = at.items
      .filter((item) => (item.gpuNs ?? 0) > 0 || item.kernelName !== null)
      .sort((a, b) => (b.gpuNs ?? 0) - (a.gpuNs ?? 0))[0];
    if (next === undefined) break;
    ops.push(next);
    at = next;
  }
  const last = ops[ops.length - 1] ?? first;
  const kernels = kernelsOf(last);
  const { launch, known } = launchOf(last, kernels);
  return { ops, launch, launchKnown: known, kernels, note: kernels.length === 0 ? (first.note ?? 'no kernel') : null };
}
