import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TimelineData, TimelineSlice } from '../data/analyses';
import { useAnalysis } from '../state/answers';
import { param, select, selection, setParam } from '../state/state';
import { ns } from '../ui/format';
import { AbstainedState, ErrorState, Loading } from '../ui/states';
import { copyToClipboard } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { useColors } from './colors';
import { rangeToCopy, withPass } from './copy_range';
import type { Detail } from './detail';
import { BINS, detailOf } from './detail';
import type { Lane, Selected } from './lanes';
import { lanesOf } from './lanes';
import { LanesView } from './lanes_view';
import { Overview } from './overview';
import { rangeText } from './range';
import './timeline.css';
import { Toast } from './toast';
import type { DetailState } from './use_detail';
import { useDetail } from './use_detail';
import type { Span } from './viewport';
import { around, clampTo, lengthOf, reveal, zoomAt } from './viewport';

const OPEN = 'time.strip';
const WINDOW = 'time.window';
const LABELS_PX = 132;
/** More lanes than anyone looks at; the rest is said. */
const MOST_LANES = 240;

function windowOfText(text: string | null, bounds: Span): Span {
  const match = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(text ?? '');
  if (match === null) return bounds;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return to > from ? clampTo({ from, to }, bounds) : bounds;
}

function textOfWindow(view: Span, bounds: Span): string | null {
  return view.from === bounds.from && view.to === bounds.to ? null : `${view.from}-${view.to}`;
}

/** The window is that of the address. While it moves it is kept here, and the address follows when it rests. */
function useWindow(bounds: Span): [Span, (view: Span) => void] {
  const text = param(WINDOW);
  const held = useMemo(() => windowOfText(text, bounds), [text, bounds]);
  const [moved, setMoved] = useState<{ from: string | null; bounds: Span; view: Span } | null>(null);
  // Where the address changed meanwhile (a step back, another link) it is what was meant last.
  const moving = moved !== null && moved.from === text && moved.bounds === bounds ? moved.view : null;
  useEffect(() => {
    if (moving === null) return undefined;
    const timer = setTimeout(() => {
      setParam(WINDOW, textOfWindow(moving, bounds));
      setMoved(null);
    }, 400);
    return () => {
      clearTimeout(timer);
    };
  }, [moving, bounds]);
  return [
    moving ?? held,
    (view) => {
      setMoved({ from: text, bounds, view });
    },
  ];
}

function detailText(state: DetailState, detail: Detail): string {
  const bins = `slices of ${ns(Math.round(detail.binNs))}`;
  if (state === 'loading') return `${bins}, finer ones on their way`;
  if (state === 'coarse') return `${bins}: this report holds no finer ones`;
  if (state === 'failed') return `${bins}: finer ones could not be had`;
  return detail.binNs <= 1 ? 'every activity' : bins;
}

function Tool({ label, text, onClick, disabled = false }: { label: string; text: string; onClick: () => void; disabled?: boolean }): JSX.Element {
  return (
    <button type="button" class="button small" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {text}
    </button>
  );
}

function Frame({ open, tools, children }: { open: boolean; tools?: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="tl">
      <div class="tl-head">
        <button
          type="button"
          class="tl-toggle"
          aria-expanded={open}
          onClick={() => {
            setParam(OPEN, open ? 'closed' : null);
          }}
        >
          <span aria-hidden="true">{open ? '▾' : '▸'}</span> Timeline
        </button>
        {tools}
      </div>
      {open && children}
    </div>
  );
}

/** The selected layer's slice, where the pass is known too: what a window should show. */
function spanOfSelection(lanes: readonly Lane[], selected: Selected): Span | null {
  if (selected.pass === null) return null;
  const kind = selected.layer === null ? 'passes' : 'layers';
  const slice = lanes
    .filter((lane) => lane.lane.kind === kind)
    .flatMap((lane) => lane.slices)
    .find((entry) => entry.pass === selected.pass && (selected.layer === null || entry.layer === selected.layer));
  return slice === undefined ? null : { from: slice.start_ns, to: slice.end_ns };
}

/** A layer is a place of its own: the module that was looked at before gives way to it. */
function choose(lane: Lane, slice: TimelineSlice): void {
  if (lane.lane.kind === 'steps' || slice.pass === null) return;
  if (lane.lane.kind === 'passes' || typeof slice.layer !== 'number') select({ pass: slice.pass });
  else select({ pass: slice.pass, layer: slice.layer, module: null });
}

function keyOf({ pass, layer }: Selected): string {
  return `${pass ?? ''}/${layer ?? ''}`;
}

function Opened({ data, whole }: { data: TimelineData; whole: Detail }): JSX.Element {
  const bounds = whole.span;
  const [view, setView] = useWindow(bounds);
  const { ref, width: box } = useSize<HTMLDivElement>();
  const width = Math.max(0, box - LABELS_PX);
  const colors = useColors();
  const [toast, setToast] = useState<string | null>(null);
  const { detail, state } = useDetail(whole, view, width);
  const coarse = useMemo(() => lanesOf(data).slice(0, MOST_LANES), [data]);
  const lanes = useMemo(() => {
    if (detail.data === data) return coarse;
    // The lanes of the whole run stay where they are, also where a window has nothing in one.
    const fine = new Map(lanesOf(detail.data).map((lane) => [lane.key, lane]));
    return coarse.map((lane) => ({ ...lane, slices: fine.get(lane.key)?.slices ?? [] }));
  }, [detail, data, coarse]);
  const { pass, layer } = selection.value;
  const selected: Selected = { pass, layer };
  const chosenHere = useRef<string | null>(null);
  const key = keyOf(selected);
  useEffect(() => {
    if (chosenHere.current === key) return;
    const span = spanOfSelection(coarse, selected);
    if (span !== null) setView(reveal(view, span, bounds));
  }, [key]);
  const copy = (): void => {
    void rangeToCopy(lanes, withPass(lanes, selected, view), view).then(async ({ span, of, exact }) => {
      const text = rangeText(span.from, span.to);
      const done = await copyToClipboard(text);
      const note = exact ? '' : ' (of several joined slices: open the trace for the exact one)';
      setToast(done ? `Copied ${text} s, ${of}${note}` : `The clipboard is closed to this page. The range is ${text} s`);
    });
  };
  const span = spanOfSelection(coarse, withPass(coarse, selected, view));
  const left = (data.lanes?.length ?? 0) - coarse.length;
  return (
    <Frame
      open
      tools={
        <>
          <span class="tl-range">
            {ns(view.from)} – {ns(view.to)} <span class="muted">({ns(lengthOf(view))})</span>
          </span>
          <span class="tl-detail" data-state={state}>
            {detailText(state, detail)}
            {left > 0 && `, ${left} more lanes are not drawn`}
          </span>
          <span class="tl-tools">
            <Tool label="Zoom out" text="−" onClick={() => { setView(zoomAt(view, 2, (view.from + view.to) / 2, bounds)); }} />
            <Tool label="Zoom in" text="+" onClick={() => { setView(zoomAt(view, 0.5, (view.from + view.to) / 2, bounds)); }} />
            <Tool label="Show the whole run" text="Whole run" onClick={() => { setView(bounds); }} />
            <Tool label="Zoom to the selection" text="Selection" disabled={span === null} onClick={() => { if (span !== null) setView(around(span, 0.3, bounds)); }} />
            <button type="button" class="button small tl-copy" onClick={copy}>
              Copy Perfetto range
            </button>
          </span>
        </>
      }
    >
      <div class="tl-body" ref={ref}>
        <div class="tl-corner" title="Drag moves, Ctrl (or ⌘) with the wheel zooms, Shift with the wheel moves. With the lanes in focus: + and −, Shift with arrows, 0 for the whole run">
          Ctrl + wheel zooms
        </div>
        <Overview lanes={coarse} bounds={bounds} view={view} width={width} colors={colors} onView={setView} />
        <LanesView
          lanes={lanes}
          bounds={bounds}
          view={view}
          width={width}
          colors={colors}
          selected={selected}
          onView={setView}
          onChoose={(lane, slice) => {
            choose(lane, slice);
            // The window stays where the hand is.
            chosenHere.current = keyOf(selection.peek());
          }}
          onCopy={copy}
        />
      </div>
      <Toast
        text={toast}
        onGone={() => {
          setToast(null);
        }}
      />
    </Frame>
  );
}

/** Passes, layers, blocks and streams over time, under all tabs. */
export function TimelineStrip(): JSX.Element {
  const open = param(OPEN) !== 'closed';
  const loaded = useAnalysis('timeline', open ? { bins: BINS } : null);
  const whole = useMemo(() => (loaded.state === 'ready' ? detailOf(loaded.value.data) : null), [loaded]);
  if (!open) return <Frame open={false} />;
  if (loaded.state === 'loading') return <Frame open><Loading label="Reading the timeline…" /></Frame>;
  if (loaded.state === 'error') return <Frame open><ErrorState error={loaded.error} /></Frame>;
  const { data } = loaded.value;
  if (data.abstained !== undefined) return <Frame open><AbstainedState abstained={data.abstained} title="No timeline" /></Frame>;
  if (whole === null) return <Frame open><p class="tl-nothing">The trace holds no activities.</p></Frame>;
  return <Opened data={data} whole={whole} />;
}
