import { signal } from '@preact/signals';
import type { ComponentChildren, JSX, TargetedFocusEvent, TargetedPointerEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** What a tooltip says. Texts are shown as they are given: make names visible first. */
export interface TipContent {
  readonly title?: string;
  readonly rows?: readonly (readonly [label: string, value: string])[];
  readonly body?: ComponentChildren;
  /** What the copy button (or Ctrl+C) copies; default: title and rows as text. */
  readonly copy?: string;
}

interface Anchor {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface ShownTip {
  readonly anchor: Anchor;
  readonly content: TipContent;
}

export const TIP_ID = 'tooltip';
const SHOW_AFTER_MS = 250;
/** Time for the pointer to cross the gap into the tooltip. */
const HIDE_AFTER_MS = 180;

const shown = signal<ShownTip | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

function later(act: () => void, ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(act, ms);
}

/** For marks on a canvas: shows at once, beside the given box of the window. */
export function showTip(anchor: Anchor, content: TipContent): void {
  clearTimeout(timer);
  shown.value = { anchor, content };
}

export function hideTip(): void {
  later(() => {
    shown.value = null;
  }, HIDE_AFTER_MS);
}

interface TipHandlers {
  readonly onPointerEnter: (event: TargetedPointerEvent<Element>) => void;
  readonly onPointerLeave: () => void;
  readonly onFocus: (event: TargetedFocusEvent<Element>) => void;
  readonly onBlur: (event: TargetedFocusEvent<Element>) => void;
}

/** Spread over an element (HTML or SVG): its tooltip on hover and on focus by keyboard. */
export function tipProps(content: () => TipContent): TipHandlers {
  return {
    onPointerEnter: (event) => {
      const target = event.currentTarget;
      const wait = shown.peek() === null ? SHOW_AFTER_MS : 60;
      later(() => {
        if (target.isConnected) showTip(target.getBoundingClientRect(), content());
      }, wait);
    },
    onPointerLeave: hideTip,
    onFocus: (event) => {
      const target = event.currentTarget;
      if (target.matches(':focus-visible')) {
        target.setAttribute('aria-describedby', TIP_ID);
        showTip(target.getBoundingClientRect(), content());
      }
    },
    onBlur: (event) => {
      if (event.currentTarget.getAttribute('aria-describedby') === TIP_ID) event.currentTarget.removeAttribute('aria-describedby');
      hideTip();
    },
  };
}

function copyText(content: TipContent): string {
  if (content.copy !== undefined) return content.copy;
  const rows = (content.rows ?? []).map(([label, value]) => `${label}\t${value}`);
  return [...(content.title === undefined ? [] : [content.title]), ...rows].join('\n');
}

/** Beside the anchor: below where there is room, else above; never out of the window. */
function placeBeside(anchor: Anchor, width: number, height: number): { left: number; top: number } {
  const margin = 6;
  const left = Math.max(margin, Math.min(anchor.left, window.innerWidth - width - margin));
  const below = anchor.bottom + margin;
  const top = below + height < window.innerHeight ? below : anchor.top - height - margin;
  return { left, top: Math.max(margin, Math.min(top, window.innerHeight - height - margin)) };
}

function useEscape(active: boolean): void {
  useLayoutEffect(() => {
    if (!active) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && shown.peek() !== null) {
        // One Escape closes one thing: what the page would take back on it stays.
        event.preventDefault();
        clearTimeout(timer);
        shown.value = null;
      }
      const tip = shown.peek();
      const isCopy = (event.ctrlKey || event.metaKey) && event.key === 'c';
      // What is marked on the page is what its user wants to copy.
      if (isCopy && tip !== null && window.getSelection()?.isCollapsed !== false) void copyToClipboard(copyText(tip.content));
    };
    const onScroll = (event: Event): void => {
      if (!(event.target instanceof Element && event.target.closest('.tooltip') !== null)) hideTip();
    };
    // Before all others, which leave alone what was taken here.
    window.addEventListener('keydown', onKey, true);
    window.addEventListener('scroll', onScroll, true);
    return () => {
      window.removeEventListener('keydown', onKey, true);
      window.removeEventListener('scroll', onScroll, true);
    };
  }, [active]);
}

/** Puts text on the clipboard; where the browser does not allow it (file://), through a selection. */
export async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'offscreen';
    document.body.append(field);
    field.select();
    // Deprecated, and the only way without a secure context.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

export function CopyButton({ text, label = 'Copy' }: { text: () => string; label?: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      class="button small"
      onClick={() => {
        void copyToClipboard(text()).then((done) => {
          setCopied(done);
          setTimeout(() => {
            setCopied(false);
          }, 1500);
        });
      }}
    >
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </button>
  );
}

function TipBody({ content }: { content: TipContent }): JSX.Element {
  return (
    <>
      {content.title !== undefined && <div class="tooltip-title">{content.title}</div>}
      {content.rows !== undefined && (
        <dl class="facts">
          {content.rows.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {content.body}
    </>
  );
}

/** The one tooltip of the page; the frame holds it. */
export function TooltipLayer(): JSX.Element | null {
  const tip = shown.value;
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: -9999, top: 0 });
  useEscape(tip !== null);
  useLayoutEffect(() => {
    if (tip === null || box.current === null) return;
    setPlace(placeBeside(tip.anchor, box.current.offsetWidth, box.current.offsetHeight));
  }, [tip]);
  if (tip === null) return null;
  return (
    <div
      ref={box}
      id={TIP_ID}
      role="tooltip"
      class="tooltip"
      style={{ left: `${place.left}px`, top: `${place.top}px` }}
      onPointerEnter={() => {
        clearTimeout(timer);
      }}
      onPointerLeave={hideTip}
    >
      <TipBody content={tip.content} />
      <CopyButton text={() => copyText(tip.content)} />
    </div>
  );
}
