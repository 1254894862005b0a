import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { hideTip, showTip } from '../ui/tooltip';
import type { Point } from './use_drag';

/** Half the side of the box that the tooltip keeps clear around the mark. */
const AROUND_PX = 10;

export type TipRows = readonly (readonly [label: string, value: string])[];

/** The page's tooltip beside a mark at `at` (pixels of the element); none while `at` is null. */
export function useMarkTip(element: RefObject<Element>, at: Point | null, title: string, rows: () => TipRows): void {
  const x = at?.x ?? null;
  const y = at?.y ?? null;
  useEffect(() => {
    const box = element.current?.getBoundingClientRect();
    if (x === null || y === null || box === undefined) return undefined;
    const left = box.left + x;
    const top = box.top + y;
    showTip(
      { left: left - AROUND_PX, right: left + AROUND_PX, top: top - AROUND_PX, bottom: top + AROUND_PX },
      { title, rows: rows() },
    );
    return hideTip;
  }, [x, y, title]);
}

/** The same for a reader of the screen. */
export function spokenTip(title: string, rows: TipRows): string {
  return [title, ...rows.map(([label, value]) => `${label} ${value}`)].join(', ');
}
