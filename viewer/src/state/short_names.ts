import { useMemo } from 'preact/hooks';
import type { KernelRow } from '../data/analyses';
import { ShortNames } from '../ui/short_names';
import { useAnalysis } from './answers';
import { source } from './state';

/** As many rows as a report holds of the whole run. */
export const RUN_ROWS = 200;

const NO_ROWS: readonly KernelRow[] = [];

/** Asks once for the kernels' names, where there is a trace: the document of `map` has whole names alone. */
export function useShortNames(wanted = true): ShortNames {
  const there = wanted && (source.value?.index.analyses.includes('kernels') ?? false);
  const loaded = useAnalysis('kernels', there ? { n: RUN_ROWS } : null);
  const rows = loaded.state === 'ready' ? (loaded.value.data.rows ?? NO_ROWS) : NO_ROWS;
  return useMemo(() => new ShortNames(rows), [rows]);
}
