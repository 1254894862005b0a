import { useMemo } from 'preact/hooks';
import type { KernelRow } from '../data/analyses';
import { useAnalysis } from '../state/answers';
import { source } from '../state/state';

/** How many characters of a name the map keeps; a longer one ends in an ellipsis there. */
const CUT = '…';

/** Without template arguments and parameters, the last two parts of a qualified name. */
export function plainShortName(name: string): string {
  let depth = 0;
  let bare = '';
  for (const character of name.replace(/\(anonymous namespace\)/g, '').replace(/^(void|std::enable_if<.*?>::type) /, '')) {
    if (character === '<') depth += 1;
    else if (character === '>') depth = Math.max(0, depth - 1);
    else if (depth === 0 && character === '(') break;
    else if (depth === 0) bare += character;
  }
  const parts = bare.split('::').filter((part) => part.trim() !== '');
  const short = parts.slice(-1).join('::').trim();
  return short === '' ? name : short;
}

/** Short names as `kernels` gives them, by the name that the map has (maybe cut). */
export class ShortNames {
  private readonly exact = new Map<string, string>();

  constructor(private readonly rows: readonly KernelRow[]) {
    for (const row of rows) {
      if (row.name !== null && row.short_name !== null) this.exact.set(row.name, row.short_name);
    }
  }

  of(name: string): string {
    const known = this.exact.get(name);
    if (known !== undefined) return known;
    if (name.endsWith(CUT)) {
      const stem = name.slice(0, -CUT.length);
      const row = this.rows.find((candidate) => candidate.name?.startsWith(stem) === true);
      if (row?.short_name != null) return row.short_name;
    }
    return plainShortName(name);
  }
}

const NO_ROWS: readonly KernelRow[] = [];

/** Asks once for the kernels' names; without a trace the names are shortened here. */
export function useShortNames(): ShortNames {
  const there = source.value?.index.analyses.includes('kernels') ?? false;
  const loaded = useAnalysis('kernels', there ? { n: 200 } : null);
  const rows = loaded.state === 'ready' ? (loaded.value.data.rows ?? NO_ROWS) : NO_ROWS;
  return useMemo(() => new ShortNames(rows), [rows]);
}
