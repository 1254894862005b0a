import { useEffect, useMemo, useState } from 'preact/hooks';
import { askAnalysis } from '../state/answers';
import { source } from '../state/state';
import type { Detail } from './detail';
import { BINS, detailOf, finest, remember, wanted } from './detail';
import type { Span } from './viewport';

/** How long a window must rest before it is asked for. */
const REST_MS = 140;

export type DetailState = 'fine' | 'loading' | 'coarse' | 'failed';

interface Kept {
  readonly whole: Detail;
  readonly details: readonly Detail[];
}

/** The finest slices there are for a window; a server is asked for finer ones while the coarse ones stay. */
export function useDetail(whole: Detail, view: Span, pixels: number): { detail: Detail; state: DetailState } {
  const [kept, keep] = useState<Kept>({ whole, details: [] });
  const [failed, setFailed] = useState<string | null>(null);
  const details = kept.whole === whole ? kept.details : [];
  const detail = finest(details, view, whole);
  const want = useMemo(() => wanted(detail, view, whole, pixels), [detail, view, whole, pixels]);
  const live = source.value?.index.live ?? false;
  const key = want === null ? null : `${want.from}-${want.to}`;
  useEffect(() => {
    if (want === null || !live || pixels === 0) return undefined;
    let isWanted = true;
    const timer = setTimeout(() => {
      void askAnalysis('timeline', { bins: BINS, from: `${want.from}ns`, to: `${want.to}ns` }).then((answer) => {
        const found = answer.ok ? detailOf(answer.value.data) : null;
        if (!isWanted) return;
        if (found === null) setFailed(key);
        else {
          // The answer is of what was asked for, also where its first activity starts later.
          const added = { ...found, span: want, binNs: Math.max(1, (want.to - want.from) / BINS) };
          keep((before) => ({ whole, details: remember(before.whole === whole ? before.details : [], added) }));
        }
      });
    }, REST_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [key, live, whole, pixels]);
  if (want === null) return { detail, state: 'fine' };
  if (!live) return { detail, state: 'coarse' };
  return { detail, state: failed === key ? 'failed' : 'loading' };
}
