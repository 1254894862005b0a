import type { TimelineSlice } from '../data/analyses';
import { visibleText } from '../ui/visible_text';
import type { Colors } from './colors';
import { sliceColor, sliceText } from './colors';
import type { Lane, Selected } from './lanes';
import { isOfSelection } from './lanes';
import { marksOf } from './marks';
import type { Span } from './viewport';
import { axisOf, lengthOf } from './viewport';

export const LANE_HEIGHT = 20;
const MARK_TOP = 2;
const MARK_HEIGHT = 16;
/** Slices that are narrower have no room for a word. */
const TEXT_FROM = 26;

export interface Scene {
  readonly lanes: readonly Lane[];
  readonly view: Span;
  readonly width: number;
  readonly colors: Colors;
  readonly selected: Selected;
  readonly seen: Map<string, number>;
}

/** Sizes a canvas for the screen's pixels; null where there is nothing to draw on. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function hasSelection(selected: Selected): boolean {
  return selected.pass !== null || selected.layer !== null;
}

/** Merged and neighbouring slices of one colour are told apart by how dark they are. */
function alphaOf(lane: Lane, slice: TimelineSlice, fill: number, dimmed: boolean): number {
  const full = lane.lane.kind === 'layers' && typeof slice.layer === 'number' && slice.layer % 2 === 1 ? 0.72 : 0.92;
  return (0.35 + 0.65 * fill) * full * (dimmed ? 0.28 : 1);
}

function paintLane(context: CanvasRenderingContext2D, scene: Scene, lane: Lane, top: number): void {
  const any = hasSelection(scene.selected) && lane.lane.kind !== 'steps';
  const texts: { text: string; x: number; width: number }[] = [];
  for (const mark of marksOf(lane.slices, scene.view, scene.width)) {
    const dimmed = any && !isOfSelection(mark.slice, scene.selected);
    context.globalAlpha = alphaOf(lane, mark.slice, mark.fill, dimmed);
    context.fillStyle = scene.colors.of(sliceColor(lane.lane, mark.slice, scene.seen));
    const width = mark.width > 4 ? mark.width - 0.7 : mark.width;
    context.fillRect(mark.x, top + MARK_TOP, width, MARK_HEIGHT);
    if (width >= TEXT_FROM) texts.push({ text: sliceText(lane.lane, mark.slice), x: mark.x, width });
  }
  context.globalAlpha = 1;
  context.fillStyle = scene.colors.of('--text');
  for (const { text, x, width } of texts) paintText(context, scene, text, x, top, width);
}

function paintText(context: CanvasRenderingContext2D, scene: Scene, name: string, x: number, top: number, width: number): void {
  const most = Math.floor((width - 6) / 5.6);
  if (most < 1) return;
  const visible = visibleText(name.slice(0, most + 40));
  const text = visible.length > most ? `${visible.slice(0, Math.max(1, most - 1))}…` : visible;
  // The text stands on a plate of the page's own ground, so it is read on every colour.
  const plate = Math.min(width - 4, context.measureText(text).width + 6);
  context.fillStyle = scene.colors.of('--surface');
  context.globalAlpha = 0.86;
  context.fillRect(x + 2, top + MARK_TOP + 2, plate, MARK_HEIGHT - 4);
  context.globalAlpha = 1;
  context.fillStyle = scene.colors.of('--text');
  context.fillText(text, x + 5, top + MARK_TOP + MARK_HEIGHT / 2 + 0.5, width - 8);
}

/** All lanes of a window. */
export function paintLanes(canvas: HTMLCanvasElement, scene: Scene): void {
  const height = scene.lanes.length * LANE_HEIGHT;
  const context = prepare(canvas, scene.width, height);
  if (context === null) return;
  context.strokeStyle = scene.colors.of('--line');
  context.lineWidth = 1;
  for (const tick of axisOf(scene.view, Math.max(2, scene.width / 110)).ticks) {
    const x = Math.round(((tick - scene.view.from) / lengthOf(scene.view)) * scene.width) + 0.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }
  context.font = `10px ${getComputedStyle(canvas).fontFamily}`;
  context.textBaseline = 'middle';
  scene.lanes.forEach((lane, at) => {
    paintLane(context, scene, lane, at * LANE_HEIGHT);
  });
}

/** The whole run in one row: passes where there are some, else the busiest stream. */
export function overviewLane(lanes: readonly Lane[]): Lane | null {
  const passes = lanes.find((lane) => lane.lane.kind === 'passes' && lane.slices.length > 0);
  if (passes !== undefined) return passes;
  return [...lanes].sort((a, b) => b.slices.length - a.slices.length)[0] ?? null;
}

/** How busy the run was: passes above, the busiest stream's load below. */
export function paintOverview(canvas: HTMLCanvasElement, scene: Scene, height: number): void {
  const context = prepare(canvas, scene.width, height);
  if (context === null) return;
  const top = overviewLane(scene.lanes);
  const streams = scene.lanes.filter((lane) => lane.lane.kind === 'stream');
  const busiest = [...streams].sort((a, b) => b.slices.length - a.slices.length)[0];
  const rows: readonly (readonly [Lane | null | undefined, number, number])[] = [
    [top, 2, height / 2 - 3],
    [busiest, height / 2, height / 2 - 2],
  ];
  for (const [lane, y, tall] of rows) {
    if (lane == null) continue;
    for (const mark of marksOf(lane.slices, scene.view, scene.width)) {
      context.globalAlpha = 0.3 + 0.6 * mark.fill;
      context.fillStyle = scene.colors.of(sliceColor(lane.lane, mark.slice, scene.seen));
      context.fillRect(mark.x, y, mark.width, tall);
    }
  }
  context.globalAlpha = 1;
}
