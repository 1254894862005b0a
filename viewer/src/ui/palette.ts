/**
 * Colours by meaning, as CSS variables (theme.css has both themes). The hues are those of Okabe and
 * Ito, which people with colour-blindness tell apart; a colour never says something alone.
 */

const FAMILIES: readonly (readonly [pattern: RegExp, variable: string])[] = [
  [/attention|mla|mqa|indexer|flash/, '--cat-attention'],
  [/gemm|linear|conv/, '--cat-gemm'],
  [/moe|topk|expert/, '--cat-moe'],
  [/comm|nccl|allreduce/, '--cat-comm'],
  [/norm|softmax|rope|residual/, '--cat-norm'],
  [/activation|quant|hadamard|mhc|compressor/, '--cat-activation'],
  [/copy|memcpy|memset|alloc|view|kv_cache/, '--cat-copy'],
  [/embedding|sampling|sort|index|pool|batch/, '--cat-head'],
];

/** `var(--…)` of a kernel's category. */
export function categoryColor(category: string | null | undefined): string {
  const name = category ?? '';
  const family = FAMILIES.find(([pattern]) => pattern.test(name));
  return `var(${family?.[1] ?? '--cat-other'})`;
}

const EVIDENCE: Readonly<Record<string, { readonly color: string; readonly says: string }>> = {
  launch_correlation: { color: '--ev-1', says: 'the kernel names its launch, and the launch lies in the module' },
  graph_node: { color: '--ev-2', says: 'the graph names the module of each of its nodes' },
  capture_alignment: { color: '--ev-3', says: 'matched with the kernels recorded while the graph was captured' },
  eager_alignment: { color: '--ev-4', says: 'matched with a run of the same model without graphs' },
  anchor_kernel: { color: '--ev-3', says: 'a kernel that opens each layer' },
  periodicity: { color: '--ev-4', says: 'the order of kernels repeats' },
  template: { color: '--ev-5', says: 'modules of a layer that is known, laid over one like it' },
  unresolved: { color: '--ev-none', says: 'nothing tells' },
};

/** Evidence classes, strongest first. */
export const EVIDENCE_ORDER: readonly string[] = Object.keys(EVIDENCE);

export function evidenceColor(name: string): string {
  return `var(${EVIDENCE[name]?.color ?? '--ev-5'})`;
}

export function evidenceSays(name: string): string {
  return EVIDENCE[name]?.says ?? name;
}

/** "launch_correlation" as people read it. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

const SERIES = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6', '--series-7'] as const;

/** Colours for kinds that have no colour of their own: layer types, modules, requests. */
export function seriesColor(index: number): string {
  return `var(${SERIES[((index % SERIES.length) + SERIES.length) % SERIES.length] ?? SERIES[0]})`;
}

/**
 * Hotspot colour of a share of 0 to 1, from green over yellow to red. The number and a bar stand
 * beside it wherever it is used.
 */
export function heatColor(part: number): string {
  const at = Math.max(0, Math.min(1, part));
  return at < 0.5
    ? `color-mix(in oklab, var(--heat-mid) ${(at * 200).toFixed(1)}%, var(--heat-low))`
    : `color-mix(in oklab, var(--heat-high) ${((at - 0.5) * 200).toFixed(1)}%, var(--heat-mid))`;
}
