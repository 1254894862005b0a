import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { count, ns } from '../ui/format';
import { tipProps } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { revealRow, useScrollTop, windowOf } from '../ui/use_window';
import { visibleText } from '../ui/visible_text';
import { rowAfterKey } from '../ui/table';
import type { ArchModel, ArchNode, Layer, Metric } from './model';
import { foldOf, valuesOf } from './model';
import { differenceText, spreadOf } from './statistics';
import { TypeChip, typeColor } from './type_chip';

const ROW = 20;

interface RailProps {
  readonly model: ArchModel;
  /** What the bars are of: a node in a fold; null: whole layers. */
  readonly node: ArchNode | null;
  readonly metric: Metric;
  readonly chosen: Layer | null;
  readonly onChoose: (layer: Layer) => void;
}

export interface RailRow {
  readonly layer: Layer;
  readonly ns: number | null;
}

/** Each layer with the node's time in it; of a node outside of the layers, with the whole layer's. */
export function railRows(model: ArchModel, node: ArchNode | null, metric: Metric): readonly RailRow[] {
  const values = node === null ? null : valuesOf(node, metric);
  const fold = node === null ? null : foldOf(node);
  if (node === null || values === null || fold === null || model.layers.every((layer) => layer.fold !== fold)) {
    return model.layers.map((layer) => ({ layer, ns: metric === 'gpu' ? layer.gpuNs : layer.cpuNs }));
  }
  return model.layers
    .filter((layer) => layer.fold === fold)
    .map((layer) => ({ layer, ns: values[layer.member] ?? null }));
}

function meansByType(rows: readonly RailRow[]): ReadonlyMap<string, number> {
  const byType = new Map<string, (number | null)[]>();
  for (const row of rows) {
    const values = byType.get(row.layer.type);
    if (values === undefined) byType.set(row.layer.type, [row.ns]);
    else values.push(row.ns);
  }
  return new Map([...byType].map(([type, values]) => [type, spreadOf(values)?.avgNs ?? 0]));
}

function RailItem({ row, at, max, avg, ...props }: RailProps & { row: RailRow; at: number; max: number; avg: number; focusable: boolean }): JSX.Element {
  const { layer } = row;
  const chosen = props.chosen?.index === layer.index;
  const width = max > 0 ? ((row.ns ?? 0) / max) * 100 : 0;
  return (
    <div
      role="option"
      aria-selected={chosen}
      aria-label={`layer ${layer.index}, type ${layer.type}, ${ns(row.ns)}`}
      tabIndex={props.focusable ? 0 : -1}
      data-row={at}
      data-layer={layer.index}
      class={`arch-rail-row ${chosen ? 'chosen' : ''}`}
      onClick={() => {
        props.onChoose(layer);
      }}
      {...tipProps(() => ({
        title: `Layer ${layer.index}`,
        rows: [
          ['type', visibleText(layer.type)],
          ['class', visibleText(layer.title ?? 'unknown')],
          [props.metric === 'gpu' ? 'GPU time' : 'CPU time', ns(row.ns)],
          ['against the mean of its type', differenceText(row.ns, avg)],
        ],
      }))}
    >
      <span class="arch-rail-index">{layer.index}</span>
      {props.model.layerTypes.length > 1 && <TypeChip model={props.model} type={layer.type} />}
      <span class="arch-rail-bar">
        <span style={{ width: `${width.toFixed(2)}%`, background: typeColor(props.model, layer.type) }} />
        {max > 0 && <i style={{ left: `${((avg / max) * 100).toFixed(2)}%` }} />}
      </span>
      <span class="arch-rail-value">{ns(row.ns)}</span>
    </div>
  );
}

/** A layer's time is that of all forwards together, also where they are of several phases. */
function sumText(model: ArchModel): string {
  const phases = model.facts.find(({ label }) => label === 'phase')?.value ?? '';
  return `each the sum of ${count(model.forwards)} forwards${phases.includes(',') ? ` (${visibleText(phases)})` : ''}`;
}

/** The layers beside each other, one bar each: which are slow, and the way into one. */
export function LayerRail(props: RailProps): JSX.Element | null {
  const { model, node, metric, chosen, onChoose } = props;
  const rows = useMemo(() => railRows(model, node, metric), [model, node, metric]);
  const spread = useMemo(() => spreadOf(rows.map((row) => row.ns)), [rows]);
  const means = useMemo(() => meansByType(rows), [rows]);
  const { ref: box, height } = useSize<HTMLDivElement>();
  const [top, onScroll] = useScrollTop(ROW);
  const shown = windowOf(rows.length, ROW, top, height === 0 ? 700 : height);
  const focus = useRef<number | null>(null);
  const chosenAt = rows.findIndex((row) => row.layer.index === chosen?.index);
  useLayoutEffect(() => {
    if (chosenAt >= 0 && box.current !== null) revealRow(box.current, chosenAt, ROW, 0);
  }, [chosenAt]);
  useLayoutEffect(() => {
    if (focus.current === null) return;
    box.current?.querySelector<HTMLElement>(`[data-row="${focus.current}"]`)?.focus({ preventScroll: true });
    focus.current = null;
  });
  if (rows.length === 0) return null;
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = Number((event.target as HTMLElement).dataset.row ?? -1);
    const next = rowAfterKey(event.key, at, rows.length, 10);
    if (next !== null) {
      event.preventDefault();
      if (box.current !== null) revealRow(box.current, next, ROW, 0);
      box.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus({ preventScroll: true });
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      const row = rows[at];
      if (row !== undefined) onChoose(row.layer);
    }
  };
  const tabStop = chosenAt >= shown.first && chosenAt < shown.end ? chosenAt : shown.first;
  const max = spread?.maxNs ?? 0;
  return (
    <section class="arch-rail" aria-label="Layers">
      <header>
        <h2>Layers</h2>
        <span class="arch-quiet" {...tipProps(() => ({ title: 'Layer types in their order; each letter is a type, × how often', copy: model.layerPattern ?? '' }))}>
          {model.layerPattern === null || model.layerTypes.length < 2 ? `×${rows.length}` : visibleText(model.layerPattern)}
        </span>
      </header>
      {spread !== null && (
        <p class="arch-rail-range">
          {ns(spread.minNs)} – {ns(spread.maxNs)}
          {model.forwards !== null && model.forwards > 1 && <span class="arch-rail-sum">{sumText(model)}</span>}
        </p>
      )}
      <div class="arch-rail-box" role="listbox" aria-label="Layers" ref={box} onScroll={onScroll} onKeyDown={onKeyDown}>
        <div style={{ height: `${shown.above}px` }} />
        {rows.slice(shown.first, shown.end).map((row, i) => (
          <RailItem key={row.layer.index} {...props} row={row} at={shown.first + i} max={max} avg={means.get(row.layer.type) ?? 0} focusable={shown.first + i === tabStop} />
        ))}
        <div style={{ height: `${shown.below}px` }} />
      </div>
    </section>
  );
}
