/**
 * A model as the Architecture tab draws it: what `layerscope map` writes (or an older writer of
 * model_execution.json), read once into one shape. Times are whole nanoseconds, totals over all
 * forwards; null is "the document does not say", never zero.
 */

export type NodeKind = 'module' | 'op' | 'group';

/** Values of one node in each member of the fold (the ×N) around it. */
export interface LayerValues {
  readonly gpu: readonly (number | null)[] | null;
  readonly cpu: readonly (number | null)[] | null;
}

export interface Arg {
  readonly name: string;
  readonly shape: readonly unknown[] | null;
  readonly dtype: string | null;
}

export interface Kernel {
  readonly name: string;
  readonly role: string | null;
  readonly n: number | null;
  readonly gpuNs: number | null;
  /** Of its longest run; null where the trace or an older document does not say. */
  readonly longestNs: number | null;
  readonly grid: string | null;
  readonly block: string | null;
  readonly device: string | null;
  readonly stream: string | null;
  readonly launch: string | null;
}

export interface PassSpread {
  readonly n: number;
  readonly avgNs: number;
  readonly minNs: number;
  readonly maxNs: number;
}

export interface ArchNode {
  /** Place in the tree, `0.2.1`: stays the same as long as the document does. */
  readonly id: string;
  readonly kind: NodeKind;
  /** A module's recorded name, an op's name. */
  readonly name: string;
  /** A module's class; an op's name. */
  readonly title: string;
  /** A module's path; an op has its module's. */
  readonly path: string;
  readonly parent: ArchNode | null;
  /** Modules and ops as they ran. Filled while the document is read. */
  readonly items: readonly ArchNode[];
  readonly gpuNs: number | null;
  readonly cpuNs: number | null;
  readonly ownNs: number | null;
  readonly busyNs: number | null;
  readonly kernels: number | null;
  readonly calls: number | null;
  readonly evidence: Readonly<Record<string, number>>;
  readonly passes: PassSpread | null;
  readonly rankGpu: readonly (number | null)[] | null;
  /** Members of a fold; 1 else. */
  readonly repeat: number;
  readonly members: readonly string[];
  readonly layers: LayerValues | null;
  readonly dims: string | null;
  readonly args: readonly Arg[];
  readonly kernelName: string | null;
  readonly role: string | null;
  readonly note: string | null;
  readonly kernelList: readonly Kernel[];
  readonly compiled: boolean;
}

/** One layer of the model. */
export interface Layer {
  readonly index: number;
  readonly type: string;
  readonly path: string | null;
  readonly title: string | null;
  readonly gpuNs: number | null;
  readonly cpuNs: number | null;
  readonly kernels: number | null;
  /** The fold that holds it and its place there; null where no module is known for it. */
  readonly fold: ArchNode | null;
  readonly member: number;
}

export interface Rank {
  readonly rank: number | null;
  readonly gpuNs: number | null;
}

export interface ArchModel {
  readonly title: string;
  /** Nothing says which module an op is of. */
  readonly noModules: boolean;
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  /** Ops before the model, in a group; null without any. */
  readonly before: ArchNode | null;
  readonly root: ArchNode;
  readonly after: ArchNode | null;
  /** Layers that were found in the order of kernels and no module stands for; their time is part of the rest. */
  readonly found: ArchNode | null;
  /** The above that exist, as they run. */
  readonly flow: readonly ArchNode[];
  readonly layers: readonly Layer[];
  readonly layerPattern: string | null;
  readonly layerSource: string | null;
  readonly layerTypes: readonly string[];
  /** The nodes that layers are seated in. */
  readonly layerFolds: ReadonlySet<ArchNode>;
  /** The type of each of them. */
  readonly typeOfFold: ReadonlyMap<ArchNode, string>;
  /** Null in documents of older writers: they know the CPU time of modules only. */
  readonly totalGpuNs: number | null;
  readonly totalCpuNs: number | null;
  readonly unattributedNs: number | null;
  readonly withoutOpNs: number | null;
  readonly forwards: number | null;
  readonly ranks: readonly Rank[];
  /** A trace without a GPU: "GPU time" is then the ops' self time on the CPU. */
  readonly cpuOnly: boolean;
  /** Only the keys of older writers. */
  readonly legacy: boolean;
  readonly byId: ReadonlyMap<string, ArchNode>;
  readonly nodeCount: number;
  /** Nodes deeper than what is drawn, left out. */
  readonly leftOut: number;
}

/** Which time bars and ranks are made of. */
export type Metric = 'gpu' | 'cpu';

export function timeOf(node: ArchNode, metric: Metric): number | null {
  return metric === 'gpu' ? node.gpuNs : node.cpuNs;
}

export function valuesOf(node: ArchNode, metric: Metric): readonly (number | null)[] | null {
  const values = metric === 'gpu' ? node.layers?.gpu : node.layers?.cpu;
  return values === undefined || values === null || values.length === 0 ? null : values;
}

/** From the root of the tree to the node itself. */
export function lineage(node: ArchNode): ArchNode[] {
  const line: ArchNode[] = [];
  for (let at: ArchNode | null = node; at !== null; at = at.parent) line.unshift(at);
  return line;
}

/** The outermost fold that holds a node (or is it): the one that its arrays of layers are of. */
export function foldOf(node: ArchNode): ArchNode | null {
  return lineage(node).find((at) => at.repeat > 1) ?? null;
}
