import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, counted, ns, nsExact, share } from '../ui/format';
import { KernelName } from '../ui/kernel_name';
import { NameText } from '../ui/name_text';
import { categoryColor, words } from '../ui/palette';
import { type DistinctName, distinctNames, distinctText } from '../ui/short_names';
import type { Column } from '../ui/table';
import { DataTable } from '../ui/table';
import { tipProps } from '../ui/tooltip';
import type { FlowContext } from './block';
import { ModeBadges } from './block';
import { ArgsTable } from './inspector';
import type { RailRow } from './layer_rail';
import { railRows } from './layer_rail';
import type { ArchModel, ArchNode, Kernel, Layer } from './model';
import { foldOf, valuesOf } from './model';
import type { Spread } from './statistics';
import { differenceText, spreadOf } from './statistics';
import { StepChart } from './step_chart';
import { TypeChip } from './type_chip';

interface StepViewProps {
  readonly node: ArchNode;
  readonly layer: Layer | null;
  readonly context: FlowContext;
  readonly onLayer: (layer: Layer) => void;
}

function Statistic({ label, value, note }: { label: string; value: number; note?: string }): JSX.Element {
  return (
    <div class="arch-card" {...tipProps(() => ({ title: `${label}: ${nsExact(value)}` }))}>
      <span class="arch-card-label">{label}</span>
      <strong>{ns(value)}</strong>
      {note !== undefined && <span class="arch-quiet">{note}</span>}
    </div>
  );
}

function Statistics({ spread, rows }: { spread: Spread; rows: readonly RailRow[] }): JSX.Element {
  const at = (index: number): string => `layer ${rows[index]?.layer.index ?? '–'}`;
  return (
    <div class="arch-cards" role="group" aria-label="Statistics">
      <Statistic label="sum" value={spread.sumNs} note={`${count(spread.n)} layers`} />
      <Statistic label="mean" value={spread.avgNs} />
      <Statistic label="median" value={spread.p50Ns} />
      <Statistic label="min" value={spread.minNs} note={at(spread.minAt)} />
      <Statistic label="max" value={spread.maxNs} note={at(spread.maxAt)} />
      <Statistic label="deviation" value={spread.stdNs} note={`${share(spread.stdNs, spread.avgNs)} of the mean`} />
    </div>
  );
}

function layerColumns(model: ArchModel, spread: Spread): readonly Column<RailRow>[] {
  return [
    { id: 'layer', title: 'Layer', value: (row) => row.layer.index, width: '80px', align: 'right', show: (row) => row.layer.index },
    { id: 'type', title: 'Type', value: (row) => row.layer.type, width: '70px', show: (row) => <TypeChip model={model} type={row.layer.type} /> },
    { id: 'time', csvTitle: 'time_ns', title: 'Time', value: (row) => row.ns, align: 'right', width: '110px', show: (row) => ns(row.ns) },
    {
      id: 'difference',
      csvTitle: 'difference_ns',
      title: 'Against the mean',
      value: (row) => (row.ns === null ? null : row.ns - spread.avgNs),
      align: 'right',
      width: '140px',
      show: (row) => differenceText(row.ns, spread.avgNs),
    },
    { id: 'path', title: 'Module', value: (row) => row.layer.path ?? '' },
  ];
}

function known(text: string | null): JSX.Element {
  return text === null ? <span class="arch-unknown">unknown</span> : <NameText text={text} limit={30} />;
}

function KernelTable({ node, context }: { node: ArchNode; context: FlowContext }): JSX.Element | null {
  if (node.kernelList.length === 0) return null;
  const called = distinctNames(node.kernelList.map(({ name }) => ({ name, short: context.names.of(name) })));
  const nameOf = (kernel: Kernel): DistinctName => called.get(kernel.name) ?? { short: kernel.name, rest: '' };
  const columns: readonly Column<Kernel>[] = [
    {
      id: 'short_name',
      title: 'Kernel',
      value: (kernel) => distinctText(nameOf(kernel)),
      width: '26%',
      show: (kernel) => (
        <span class="arch-cell">
          <span class="arch-swatch" style={{ background: categoryColor(kernel.role) }} aria-hidden="true" />
          <KernelName name={nameOf(kernel)} tip />
        </span>
      ),
    },
    { id: 'name', title: 'Full name', value: (kernel) => kernel.name },
    { id: 'role', title: 'Role', value: (kernel) => kernel.role, width: '84px', show: (kernel) => words(kernel.role ?? 'unknown') },
    { id: 'n', title: 'n', value: (kernel) => kernel.n, align: 'right', width: '56px' },
    { id: 'gpu_ns', title: 'GPU time', value: (kernel) => kernel.gpuNs, align: 'right', width: '90px', show: (kernel) => ns(kernel.gpuNs) },
    { id: 'grid', title: 'Grid', value: (kernel) => kernel.grid, width: '84px', show: (kernel) => known(kernel.grid) },
    { id: 'block', title: 'Block', value: (kernel) => kernel.block, width: '84px', show: (kernel) => known(kernel.block) },
    { id: 'stream', title: 'Stream', value: (kernel) => kernel.stream, width: '80px', show: (kernel) => known(kernel.stream) },
  ];
  return (
    <section class="arch-section">
      <h2>Kernels of its own</h2>
      <DataTable label="Kernels" columns={columns} rows={node.kernelList} rowKey={(kernel) => kernel.name} sort={{ column: 'gpu_ns', descending: true }} height="220px" />
    </section>
  );
}

/** vStep: one op (or module) across all layers: bars, statistics, and each value. */
export function StepView({ node, layer, context, onLayer }: StepViewProps): JSX.Element {
  const { model, metric } = context;
  const values = valuesOf(node, metric);
  const rows = useMemo(() => (values === null ? [] : railRows(model, node, metric)), [model, node, metric, values]);
  const spread = useMemo(() => spreadOf(rows.map((row) => row.ns)), [rows]);
  const columns = useMemo(() => (spread === null ? [] : layerColumns(model, spread)), [model, spread]);
  return (
    <div class="arch-step">
      <header class="arch-layer-head">
        <h2>
          <NameText text={node.title} limit={90} />
        </h2>
        <ModeBadges node={node} />
        <span class="arch-quiet">{rows.length > 0 ? `across ${counted(rows.length, 'layer')}` : foldOf(node) === null ? 'runs outside of the layers' : 'no values by layer'}</span>
      </header>
      {spread !== null ? (
        <>
          <Statistics spread={spread} rows={rows} />
          <StepChart model={model} rows={rows} spread={spread} chosen={layer} onChoose={onLayer} />
        </>
      ) : (
        <p class="arch-note">
          {foldOf(node) === null
            ? 'This op is not part of a layer, so there is one value for each forward: see its times at the right.'
            : 'The document holds no values by layer for this op.'}
        </p>
      )}
      <div class="arch-step-parts">
        {(node.args.length > 0 || node.dims !== null) && (
          <section class="arch-section">
            <h2>Inputs</h2>
            <ArgsTable node={node} />
          </section>
        )}
        <KernelTable node={node} context={context} />
      </div>
      {spread !== null && (
        <section class="arch-section">
          <h2>Each layer</h2>
          <DataTable
            label="Values by layer"
            columns={columns}
            rows={rows}
            rowKey={(row) => row.layer.index}
            isSelected={(row) => row.layer.index === layer?.index}
            onSelect={(row) => {
              onLayer(row.layer);
            }}
            csvName="layers.csv"
            height="320px"
          />
        </section>
      )}
    </div>
  );
}
