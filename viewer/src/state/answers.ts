import { useEffect, useState } from 'preact/hooks';
import { type AnalysisName, type AnalysisPart, partOf } from '../data/analyses';
import type { DocumentName, Documents } from '../data/documents';
import { type Answer, type QueryOptions, type SourceError, sliceKey } from '../data/source';
import { partOptions, shownRank } from './parts';
import { source } from './state';

/** What a component has of an answer that it asked for. */
export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly value: T }
  | { readonly state: 'error'; readonly error: SourceError };

const LOADING = { state: 'loading' } as const;

function loadedOf<T>(answer: Answer<T>): Loaded<T> {
  return answer.ok ? { state: 'ready', value: answer.value } : { state: 'error', error: answer.error };
}

function useAnswer<T>(key: string | null, ask: () => Promise<Answer<T>>): Loaded<T> {
  const from = source.value;
  const [kept, keep] = useState<{ key: string | null; from: unknown; loaded: Loaded<T> } | null>(null);
  useEffect(() => {
    if (key === null || from === null) return undefined;
    let wanted = true;
    void ask().then((answer) => {
      if (wanted) keep({ key, from, loaded: loadedOf(answer) });
    });
    return () => {
      wanted = false;
    };
    // `ask` is new at each call; key and source say all that it depends on.
  }, [key, from]);
  return kept !== null && kept.key === key && kept.from === from ? kept.loaded : LOADING;
}

/**
 * Asks the source once for an analysis of the shown rank. A server is asked for that rank alone; a
 * report holds all ranks in one answer. Options of null ask nothing and stay 'loading'.
 */
export function useAnalysis<V extends AnalysisName>(verb: V, options: QueryOptions | null = {}): Loaded<AnalysisPart<V>> {
  const part = sliceKey('', partOptions.value);
  return useAnswer(options === null ? null : `${sliceKey(verb, options)} of ${part}`, () => askAnalysis(verb, options ?? {}));
}

/** The same without a component. */
export async function askAnalysis<V extends AnalysisName>(
  verb: V,
  options: QueryOptions = {},
): Promise<Answer<AnalysisPart<V>>> {
  const from = source.peek();
  const rank = shownRank.peek();
  if (from === null) {
    return { ok: false, error: { code: 'nothing_open', message: 'Nothing is open.', hint: 'layerscope view TRACE' } };
  }
  const asked = from.index.live ? { ...options, ...partOptions.peek() } : options;
  const answer = await from.analysis(verb, asked);
  return answer.ok ? { ok: true, value: partOf<V>(answer.value, rank) } : answer;
}

/** A document, or null while the source has none of that name (or it is not wanted). */
export function useDocument<N extends DocumentName>(name: N, wanted = true, options: QueryOptions = {}): Loaded<Documents[N]> | null {
  const from = source.value;
  const there = wanted && (from?.index.documents.includes(name) ?? false);
  const loaded = useAnswer(there ? `document ${sliceKey(name, options)}` : null, () =>
    from === null
      ? Promise.resolve<Answer<Documents[N]>>({ ok: false, error: { code: 'nothing_open', message: 'Nothing is open.', hint: '' } })
      : from.document(name, options),
  );
  return there ? loaded : null;
}
