import type { TimelineLane, TimelineSlice } from '../data/analyses';
import { count, ns, nsExact } from '../ui/format';
import { words } from '../ui/palette';
import type { TipContent } from '../ui/tooltip';
import { visibleText } from '../ui/visible_text';
import { rangeText } from './range';

const KINDS: Readonly<Record<TimelineLane['kind'], string>> = {
  steps: 'step',
  passes: 'pass',
  layers: 'layer',
  blocks: 'block',
  stream: 'activity',
};

function titleOf(lane: TimelineLane, slice: TimelineSlice): string {
  const name = visibleText(slice.name);
  if (lane.kind === 'layers' && slice.n === 1 && slice.layer !== null) return `layer ${slice.layer}, type ${name}`;
  if (lane.kind === 'passes' && slice.n === 1 && slice.pass !== null) return `pass ${slice.pass}, ${name}`;
  return name;
}

/** What a slice is, for its tooltip. */
export function tipOf(lane: TimelineLane, slice: TimelineSlice): TipContent {
  const length = slice.end_ns - slice.start_ns;
  const merged = slice.n > 1;
  const rows: (readonly [string, string])[] = [[merged ? 'from first to last' : 'duration', `${ns(length)} (${nsExact(length)})`]];
  if (merged) {
    rows.push(['joined', `${count(slice.n)} ${lane.kind === 'stream' ? 'activities' : lane.kind}, the name is of the longest`]);
    rows.push(['busy', ns(slice.busy_ns)]);
  }
  if (slice.category !== null) rows.push(['category', visibleText(words(slice.category))]);
  if (slice.pass !== null && lane.kind !== 'passes') rows.push(['pass', count(slice.pass)]);
  if (slice.layer !== null && lane.kind !== 'layers') rows.push(['layer', visibleText(String(slice.layer))]);
  if (slice.evidence !== null) rows.push(['evidence', visibleText(words(slice.evidence))]);
  rows.push(['start, end in s', rangeText(slice.start_ns, slice.end_ns)]);
  const title = titleOf(lane, slice);
  return { title, rows, copy: [slice.name, ...rows.map(([label, value]) => `${label}\t${value}`)].join('\n') };
}

/** The same in a sentence, for who does not see the lanes. */
export function spoken(lane: TimelineLane, slice: TimelineSlice): string {
  const merged = slice.n > 1 ? `, ${count(slice.n)} joined` : '';
  const where = lane.kind === 'layers' || slice.layer === null ? '' : `, layer ${slice.layer}`;
  const kind = lane.kind === 'stream' ? visibleText(lane.name) : KINDS[lane.kind];
  return `${kind}: ${titleOf(lane, slice).slice(0, 200)}, ${ns(slice.end_ns - slice.start_ns)}${where}${merged}`;
}
