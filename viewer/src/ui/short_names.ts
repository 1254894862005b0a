/** Short names of kernels, and what makes two of them differ. */

/** What an answer says of a kernel's names. */
export interface NamedKernel {
  readonly name: string | null;
  readonly short_name: string | null;
}

/** The document of `map` cuts very long names; such a name ends in this. */
const CUT = '…';

/** The last part of a qualified name, without template arguments and parameters. */
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
  private readonly known: ReadonlyMap<string, string>;
  private readonly found = new Map<string, string | null>();

  constructor(rows: readonly NamedKernel[]) {
    this.known = new Map(
      rows.flatMap(({ name, short_name }) => (name !== null && short_name !== null ? [[name, short_name] as const] : [])),
    );
  }

  /** What `kernels` calls it; null where no kernel, or kernels of several short names, begin like a cut name. */
  given(name: string): string | null {
    if (!name.endsWith(CUT)) return this.known.get(name) ?? null;
    const before = this.found.get(name);
    if (before !== undefined) return before;
    const stem = name.slice(0, -CUT.length);
    const alike = new Set([...this.known].filter(([whole]) => whole.startsWith(stem)).map(([, short]) => short));
    const only = alike.size === 1 ? ([...alike][0] ?? null) : null;
    this.found.set(name, only);
    return only;
  }

  of(name: string): string {
    return this.given(name) ?? plainShortName(name);
  }
}

export interface NamePair {
  readonly name: string;
  readonly short: string;
}

/** A short name, and what tells it apart from others of the same; '' where nothing has to. */
export interface DistinctName {
  readonly short: string;
  readonly rest: string;
}

export function distinctText({ short, rest }: DistinctName): string {
  return rest === '' ? short : `${short} · ${rest}`;
}

/** Characters of what differs that stand behind a short name, tried in turn. */
const LENGTHS = [28, 60, 120];

/** How many characters all names have alike, counted from their begin or their end. */
function alike(names: readonly string[], at: (name: string, i: number) => string | undefined): number {
  const first = names[0] ?? '';
  let same = 0;
  while (same < first.length && names.every((name) => at(name, same) === at(first, same))) same += 1;
  return same;
}

/** The parts in the middle of names that are not alike, from the start of a word to the end of one. */
function differing(names: readonly string[]): readonly string[] {
  const front = alike(names, (name, i) => name[i]);
  const back = alike(names, (name, i) => name[name.length - 1 - i]);
  return names.map((name) => {
    const from = name.slice(0, front).replace(/[a-z\d]*$/i, '').length;
    const to = Math.max(from, name.length - back);
    const rest = /^[a-z\d]*/i.exec(name.slice(to))?.[0].length ?? 0;
    return name.slice(from, to + rest);
  });
}

function withRests(short: string, names: readonly string[]): readonly DistinctName[] {
  if (names.length < 2) return names.map(() => ({ short, rest: '' }));
  const parts = differing(names);
  const length = LENGTHS.find((most) => new Set(parts.map((part) => part.slice(0, most))).size === names.length);
  if (length === undefined) return names.map((name) => ({ short: name, rest: '' }));
  return parts.map((part) => ({ short, rest: part.length > length ? `${part.slice(0, length)}…` : part }));
}

/**
 * What to call kernels that stand in one list: the short name, and where kernels of several names
 * have the same, with the part of the name that tells them apart.
 */
export function distinctNames(kernels: readonly NamePair[]): ReadonlyMap<string, DistinctName> {
  const byShort = new Map<string, Set<string>>();
  for (const { name, short } of kernels) byShort.set(short, (byShort.get(short) ?? new Set()).add(name));
  const out = new Map<string, DistinctName>();
  for (const [short, set] of byShort) {
    const names = [...set];
    withRests(short, names).forEach((called, i) => out.set(names[i] ?? '', called));
  }
  return out;
}
