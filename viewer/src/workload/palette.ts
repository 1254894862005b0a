/** Colours for canvas: the page's own CSS variables, read again when the theme changes. */
import { useEffect, useState } from 'preact/hooks';
import type { PointClass } from './classes';
import type { Phase } from './gantt';

export interface Palette {
  readonly points: Readonly<Record<PointClass, string>>;
  readonly phases: Readonly<Record<Phase, string>>;
  readonly surface: string;
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim() || '#808080';
  return {
    points: {
      direct: read('--wl-direct'),
      queued: read('--wl-queued'),
      unknown: read('--wl-unknown'),
      failed: read('--wl-failed'),
    },
    phases: {
      queue: read('--wl-queue'),
      prefill: read('--wl-prefill'),
      decode: read('--wl-decode'),
      whole: read('--wl-decode'),
    },
    surface: read('--wl-surface'),
  };
}

export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => {
    const update = (): void => {
      setPalette(readPalette());
    };
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributes: true });
    const media = typeof matchMedia === 'undefined' ? null : matchMedia('(prefers-color-scheme: dark)');
    media?.addEventListener('change', update);
    return () => {
      observer.disconnect();
      media?.removeEventListener('change', update);
    };
  }, []);
  return palette;
}
