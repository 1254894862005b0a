import type { Envelope, HealthEntry } from './envelope';
import type { DocumentName, Documents } from './documents';

/** Options of a verb as the command line names them (without dashes); `true` is a flag. */
export type QueryOptions = Readonly<Record<string, string | number | true>>;

/** What there is to see, before any figure is asked for: `GET api/view`, or `view` of embedded data. */
export interface ViewIndex {
  readonly schema: 'layerscope/view/1';
  readonly version: string;
  readonly title: string;
  /** A server answers (any option of a verb), or data stands in the page (what was put in). */
  readonly live: boolean;
  readonly inputs: readonly { path: string; kind: string; rank: number | null }[];
  /** Verbs that can be asked for. */
  readonly analyses: readonly string[];
  readonly documents: readonly DocumentName[];
  /** What a one-file report left out to stay small; empty on a server. */
  /** What is wrong with what lies beside the trace (a benchmark's files), where the program says it. */
  readonly health?: readonly HealthEntry[];
  readonly cuts: readonly { what: string; kept: number; of: number; why: string }[];
}

/** Why there is no answer: `error` of the envelope, or of the connection. */
export interface SourceError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: SourceError };

/**
 * Where figures come from. Three kinds: a server (HTTP), data embedded in the page, and documents
 * dropped on it. Answers are kept: asking twice costs once.
 */
export interface DataSource {
  readonly index: ViewIndex;
  /** The JSON envelope of `layerscope VERB INPUT --option value … --format json`. */
  analysis(verb: string, options?: QueryOptions): Promise<Answer<Envelope>>;
  /** With options the one that they choose, where the source can make it. */
  document<N extends DocumentName>(name: N, options?: QueryOptions): Promise<Answer<Documents[N]>>;
}

/** `verb?a=1&b=x`: options in order of name, as embedded data and the server's routes name a slice. */
export function sliceKey(verb: string, options: QueryOptions = {}): string {
  const pairs = Object.entries(options)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) =>
      value === true ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
    );
  return pairs.length === 0 ? verb : `${verb}?${pairs.join('&')}`;
}
