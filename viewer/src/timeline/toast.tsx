import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

const SHOWN_MS = 5_000;

/** Says what was done, for a few seconds, and to who listens. */
export function Toast({ text, onGone }: { text: string | null; onGone: () => void }): JSX.Element {
  useEffect(() => {
    if (text === null) return undefined;
    const timer = setTimeout(onGone, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return (
    <div class={`tl-toast ${text === null ? '' : 'shown'}`} role="status" aria-live="polite">
      {text ?? ''}
    </div>
  );
}
