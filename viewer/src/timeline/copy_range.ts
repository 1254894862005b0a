import type { LayersData, TimelineSlice } from '../data/analyses';
import { askAnalysis } from '../state/answers';
import { source } from '../state/state';
import type { Lane, Selected } from './lanes';
import type { Span } from './viewport';

/** A range and what it is of. */
export interface NamedRange {
  readonly span: Span;
  readonly of: string;
  /** False where several were joined and the ends are those of all. */
  readonly exact: boolean;
}

function nameOf(selected: Selected): string {
  const pass = selected.pass === null ? null : `pass ${selected.pass}`;
  const layer = selected.layer === null ? null : `layer ${selected.layer}`;
  return [pass, layer].filter((part) => part !== null).join(', ');
}

function spanOf(slices: readonly TimelineSlice[]): Span {
  return {
    from: Math.min(...slices.map((slice) => slice.start_ns)),
    to: Math.max(...slices.map((slice) => slice.end_ns)),
  };
}

/** From the lanes: all slices of the selected layer in its pass, or of the selected pass. */
export function rangeInLanes(lanes: readonly Lane[], selected: Selected): NamedRange | null {
  const kind = selected.layer === null ? 'passes' : 'layers';
  const slices = lanes
    .filter((lane) => lane.lane.kind === kind)
    .flatMap((lane) => lane.slices)
    .filter((slice) => slice.pass === selected.pass && (selected.layer === null || slice.layer === selected.layer));
  if (slices.length === 0) return null;
  return { span: spanOf(slices), of: nameOf(selected), exact: slices.every((slice) => slice.n === 1) };
}

async function rangeOfRanges(selected: Selected): Promise<NamedRange | null> {
  if (selected.pass === null || source.peek()?.index.live !== true) return null;
  const layer = selected.layer === null ? {} : { layer: selected.layer };
  const answer = await askAnalysis('ranges', { pass: selected.pass, ...layer });
  const kind = selected.layer === null ? 'pass' : 'layer';
  const rows = answer.ok ? (answer.value.data.ranges ?? []) : [];
  const row = rows.find(
    (entry) => entry.kind === kind && entry.pass === selected.pass && (selected.layer === null || entry.layer === selected.layer),
  );
  if (row?.start_ns == null || row.end_ns == null) return null;
  return { span: { from: row.start_ns, to: row.end_ns }, of: nameOf(selected), exact: true };
}

function rangeOfLayers(layers: LayersData | null, selected: Selected): NamedRange | null {
  if (layers === null || layers.pass !== selected.pass) return null;
  const row = layers.layers?.find((entry) => entry.index === selected.layer);
  if (row?.start_ns == null || row.end_ns == null) return null;
  return { span: { from: row.start_ns, to: row.end_ns }, of: nameOf(selected), exact: true };
}

/**
 * The range of what is selected, else of the window. A server is asked for what `ranges` says; a report has the
 * lanes and the layers of one pass.
 */
export async function rangeToCopy(lanes: readonly Lane[], selected: Selected, view: Span): Promise<NamedRange> {
  const window: NamedRange = { span: view, of: 'the window', exact: true };
  if (selected.pass === null && selected.layer === null) return window;
  const inLanes = rangeInLanes(lanes, selected);
  const asked = await rangeOfRanges(selected);
  if (asked !== null) return asked;
  if (inLanes?.exact === true) return inLanes;
  const layers = await askAnalysis('layers');
  return rangeOfLayers(layers.ok ? layers.value.data : null, selected) ?? inLanes ?? window;
}

/** The pass that a layer without one is taken from: the first on the screen, else the first. */
export function withPass(lanes: readonly Lane[], selected: Selected, view: Span): Selected {
  if (selected.pass !== null || selected.layer === null) return selected;
  const slices = lanes
    .filter((lane) => lane.lane.kind === 'layers')
    .flatMap((lane) => lane.slices)
    .filter((slice) => slice.layer === selected.layer);
  const seen = slices.find((slice) => slice.end_ns > view.from && slice.start_ns < view.to) ?? slices[0];
  return seen === undefined ? selected : { ...selected, pass: seen.pass };
}
