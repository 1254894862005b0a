import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { count, counted, ns } from '../ui/format';
import { KernelName } from '../ui/kernel_name';
import { NameText } from '../ui/name_text';
import { categoryColor, words } from '../ui/palette';
import { type DistinctName, type NamePair, type ShortNames, distinctNames } from '../ui/short_names';
import { rowAfterKey } from '../ui/table';
import { useSize } from '../ui/use_size';
import { revealRow, useScrollTop, windowOf } from '../ui/use_window';
import { visibleText } from '../ui/visible_text';
import type { FlowContext } from './block';
import type { LayerRow } from './layer_ops';
import { layerRows } from './layer_ops';
import { railRows } from './layer_rail';
import type { ArchModel, ArchNode, Layer, Metric } from './model';
import { differenceText, spreadOf } from './statistics';
import { CompositionBar, TimeBar } from './time_bar';
import { TypeChip } from './type_chip';
import { VarianceStrip } from './variance_strip';

const ROW = 38;
const HEAD = 30;

interface LayerViewProps {
  readonly layer: Layer;
  readonly context: FlowContext;
  readonly onDrill: (node: ArchNode) => void;
  readonly onLook: (node: ArchNode | null) => void;
  readonly onLayer: (layer: Layer) => void;
}

function Card({ label, value, note }: { label: string; value: string; note?: string }): JSX.Element {
  return (
    <div class="arch-card">
      <span class="arch-card-label">{label}</span>
      <strong>{value}</strong>
      {note !== undefined && <span class="arch-quiet">{note}</span>}
    </div>
  );
}

/** How this layer stands among its like, and among all. */
function LayerCards({ model, layer, metric }: { model: ArchModel; layer: Layer; metric: Metric }): JSX.Element {
  const rows = railRows(model, null, metric);
  const own = metric === 'gpu' ? layer.gpuNs : layer.cpuNs;
  const like = spreadOf(rows.filter((row) => row.layer.type === layer.type).map((row) => row.ns));
  const slower = rows.filter((row) => (row.ns ?? 0) > (own ?? 0)).length;
  return (
    <div class="arch-cards">
      <Card label={model.cpuOnly ? 'CPU self time' : 'GPU time'} value={ns(layer.gpuNs)} />
      <Card label="CPU time" value={ns(layer.cpuNs)} />
      {layer.kernels !== null && <Card label="kernels" value={count(layer.kernels)} />}
      <Card label={`vs mean of type ${visibleText(layer.type)}`} value={differenceText(own, like?.avgNs ?? null)} note={`mean ${ns(like?.avgNs)}`} />
      <Card label="rank by time" value={`${slower + 1} of ${rows.length}`} note={slower === 0 ? 'the slowest' : `${slower} slower`} />
    </div>
  );
}

function LayerHead({ layer, context, onLayer }: LayerViewProps): JSX.Element {
  const { model } = context;
  const at = model.layers.indexOf(layer);
  const step = (by: number): JSX.Element => {
    const to = model.layers[at + by];
    return (
      <button
        type="button"
        class="button small"
        disabled={to === undefined}
        aria-label={by < 0 ? 'Layer before' : 'Layer after'}
        onClick={() => {
          if (to !== undefined) onLayer(to);
        }}
      >
        {by < 0 ? '‹' : '›'}
      </button>
    );
  };
  return (
    <header class="arch-layer-head">
      {step(-1)}
      <h2>
        Layer {layer.index} <TypeChip model={model} type={layer.type} />
      </h2>
      {step(1)}
      {layer.title !== null && (
        <span class="arch-quiet">
          <NameText text={layer.title} limit={60} />
        </span>
      )}
      {layer.fold === null && <span class="arch-quiet">no module stands for it</span>}
    </header>
  );
}

function kernelsOf(rows: readonly LayerRow[], names: ShortNames): readonly NamePair[] {
  return rows.flatMap((row) => {
    const name = row.kind === 'op' ? row.node.kernelName : null;
    return name === null ? [] : [{ name, short: names.of(name) }];
  });
}

interface OpCellsProps {
  readonly row: LayerRow & { kind: 'op' };
  readonly called: ReadonlyMap<string, DistinctName>;
  readonly whole: number | null;
  readonly scale: number;
}

function OpCells({ row, called, whole, scale }: OpCellsProps): JSX.Element {
  const { node } = row;
  return (
    <>
      <td style={{ paddingLeft: `${10 + row.depth * 14}px` }}>
        <NameText text={node.title} limit={70} tip={false} />
        {node.dims !== null && (
          <span class="arch-dims arch-second">
            <NameText text={node.dims} limit={90} tip={false} />
          </span>
        )}
      </td>
      <td class="right arch-main">{ns(row.ns)}</td>
      <td class="arch-wide">
        <TimeBar part={row.ns} whole={whole} parent={whole} />
      </td>
      <td class="right">{differenceText(row.ns, row.spread?.avgNs ?? null)}</td>
      <td>{row.spread === null ? <span class="arch-quiet">not by layer</span> : <VarianceStrip spread={row.spread} value={row.ns} scale={scale} />}</td>
      <td class="right arch-quiet arch-wide">{ns(row.cpuNs)}</td>
      <td>
        {node.kernelName === null ? (
          <span class="arch-quiet">{node.note ?? 'unknown'}</span>
        ) : (
          <>
            <KernelName name={called.get(node.kernelName) ?? { short: node.kernelName, rest: '' }} />
            <span class="arch-second">
              <span class="arch-swatch" style={{ background: categoryColor(node.role) }} aria-hidden="true" />
              <span class="arch-quiet">{words(node.role ?? 'unknown')}</span>
            </span>
          </>
        )}
      </td>
    </>
  );
}

function ModuleCells({ row, whole }: { row: LayerRow & { kind: 'module' }; whole: number | null }): JSX.Element {
  return (
    <>
      <td style={{ paddingLeft: `${10 + row.depth * 14}px` }}>
        <strong>
          <NameText text={row.node.title} limit={70} tip={false} />
        </strong>
      </td>
      <td class="right">{ns(row.ns)}</td>
      <td class="arch-wide">
        <TimeBar part={row.ns} whole={whole} parent={whole} />
      </td>
      <td colSpan={2} />
      <td class="arch-wide" />
      <td />
    </>
  );
}

const TITLES: readonly (readonly [title: string, width: string, classes: string])[] = [
  ['Op', 'auto', ''],
  ['This layer', '86px', 'right'],
  ['Share', '14%', 'arch-wide'],
  ['vs mean', '76px', 'right'],
  ['Min – mean – max', '152px', ''],
  ['CPU time', '86px', 'right arch-wide'],
  ['Kernel', '25%', ''],
];

function OpTable({ rows, context, whole, onDrill, onLook }: { rows: readonly LayerRow[]; whole: number | null } & LayerViewProps): JSX.Element {
  const { ref: box, height } = useSize<HTMLDivElement>();
  const [top, onScroll] = useScrollTop(ROW);
  const [at, setAt] = useState(0);
  const wanted = useRef<number | null>(null);
  const shown = windowOf(rows.length, ROW, top, height === 0 ? 600 : height);
  const scale = useMemo(() => Math.max(1, ...rows.map((row) => (row.kind === 'op' ? (row.spread?.maxNs ?? 0) : 0))), [rows]);
  const called = useMemo(() => distinctNames(kernelsOf(rows, context.names)), [rows, context.names]);
  const focusable = at >= shown.first && at < shown.end ? at : shown.first;
  const onKeyDown = (event: KeyboardEvent, row: LayerRow): void => {
    const next = rowAfterKey(event.key, at, rows.length, 10);
    if (next !== null) {
      event.preventDefault();
      if (box.current !== null) revealRow(box.current, next, ROW, HEAD);
      setAt(next);
      wanted.current = next;
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onDrill(row.node);
    }
  };
  return (
    <div class="table-box arch-op-box" ref={box} onScroll={onScroll}>
      <table aria-label="Ops of the layer" aria-rowcount={rows.length + 1}>
        <colgroup>
          {TITLES.map(([title, width, classes]) => (
            <col key={title} class={classes} style={{ width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {TITLES.map(([title, , classes]) => (
              <th key={title} scope="col" class={classes}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody
          onPointerLeave={() => {
            onLook(null);
          }}
        >
          {shown.above > 0 && <tr aria-hidden="true" style={{ height: `${shown.above}px` }} />}
          {rows.slice(shown.first, shown.end).map((row, i) => {
            const index = shown.first + i;
            return (
              <tr
                key={row.id}
                data-row={index}
                data-block={row.id}
                aria-rowindex={index + 2}
                tabIndex={index === focusable ? 0 : -1}
                class={`clickable arch-row-${row.kind}`}
                ref={(element) => {
                  if (element !== null && wanted.current === index) {
                    wanted.current = null;
                    element.focus({ preventScroll: true });
                  }
                }}
                onFocus={() => {
                  setAt(index);
                  onLook(row.node);
                }}
                onPointerEnter={() => {
                  onLook(row.node);
                }}
                onKeyDown={(event) => {
                  onKeyDown(event, row);
                }}
                onClick={() => {
                  onDrill(row.node);
                }}
              >
                {row.kind === 'op' ? <OpCells row={row} called={called} whole={whole} scale={scale} /> : <ModuleCells row={row} whole={whole} />}
              </tr>
            );
          })}
          {shown.below > 0 && <tr aria-hidden="true" style={{ height: `${shown.below}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

/** vLayer: the ops of one layer, each with what it takes here and in the other layers of its type. */
export function LayerView(props: LayerViewProps): JSX.Element {
  const { layer, context } = props;
  const [all, setAll] = useState(false);
  const fold = layer.fold;
  const { rows, hidden } = useMemo(
    () => (fold === null ? { rows: [], hidden: 0 } : layerRows(fold, layer.member, context.metric, all)),
    [fold, layer.member, context.metric, all],
  );
  const whole = context.metric === 'gpu' ? layer.gpuNs : layer.cpuNs;
  const isFound = fold !== null && fold === context.model.found;
  return (
    <div class="arch-layer">
      <LayerHead {...props} />
      <LayerCards model={context.model} layer={layer} metric={context.metric} />
      {fold !== null && !isFound && <CompositionBar node={fold} metric={context.metric} member={layer.member} />}
      {isFound && <p class="arch-note">No module stands for this layer: the ops below are those of one layer of the model, with the times they had there.</p>}
      {rows.length > 0 && (
        <div class="table arch-op-table">
          <OpTable {...props} rows={rows} whole={whole} />
        </div>
      )}
      {rows.length === 0 && hidden === 0 && <p class="arch-quiet">The document lists no ops of this layer.</p>}
      {(hidden > 0 || all) && (
        <button
          type="button"
          class="button small arch-hidden-ops"
          aria-pressed={all}
          onClick={() => {
            setAll(!all);
          }}
        >
          {all ? 'Hide ops without time' : `Show ${counted(hidden, 'op')} without time`}
        </button>
      )}
    </div>
  );
}
