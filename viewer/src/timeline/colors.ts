import { useEffect, useState } from 'preact/hooks';
import type { TimelineLane, TimelineSlice } from '../data/analyses';
import { categoryColor, seriesColor } from '../ui/palette';

/** Colours of the page for a canvas: variables as what they stand for now. */
export interface Colors {
  of(variable: string): string;
}

function readColors(): Colors {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return {
    of(variable) {
      const name = variable.replace(/^var\((.*)\)$/, '$1');
      const value = known.get(name) ?? (style.getPropertyValue(name).trim() || '#808080');
      known.set(name, value);
      return value;
    },
  };
}

/** Read again when the theme changes. */
export function useColors(): Colors {
  const [colors, setColors] = useState(readColors);
  useEffect(() => {
    const observer = new MutationObserver(() => {
      setColors(readColors());
    });
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      observer.disconnect();
    };
  }, []);
  return colors;
}

const PASS_COLORS: Readonly<Record<string, string>> = {
  prefill: '--series-2',
  decode: '--series-1',
  mixed: '--series-4',
  draft: '--series-6',
  target_verify: '--series-3',
};

/** Layer types and blocks have no colour of their own: the first seen gets the first of the series. */
export function kindIndex(seen: Map<string, number>, name: string): number {
  const at = seen.get(name) ?? seen.size;
  seen.set(name, at);
  return at;
}

/** The variable that a slice is painted with. */
export function sliceColor(lane: TimelineLane, slice: TimelineSlice, seen: Map<string, number>): string {
  if (lane.kind === 'stream') return categoryColor(slice.category);
  if (lane.kind === 'steps') return '--cat-other';
  if (lane.kind === 'passes') return PASS_COLORS[slice.name] ?? '--cat-other';
  const type = slice.name;
  return lane.kind === 'layers' ? seriesColor(kindIndex(seen, `layer ${type}`)) : seriesColor(kindIndex(seen, `block ${type}`) + 2);
}

/** What stands in a slice that is wide enough. */
export function sliceText(lane: TimelineLane, slice: TimelineSlice): string {
  if (lane.kind === 'passes') return slice.pass === null ? slice.name : `pass ${slice.pass} ${slice.name}`;
  if (lane.kind === 'layers') return slice.n > 1 || slice.layer === null ? slice.name : String(slice.layer);
  return slice.name;
}
