import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, ns, nsExact, rate } from '../ui/format';
import { DataTable, type Column } from '../ui/table';
import { finite, isRecord, type WorkloadRun } from './model';
import { Panel } from './panel';
import { quantityLabel } from './percentiles';
import { RunsChart } from './runs_chart';

function time(quantity: string, statistic: string): Column<WorkloadRun> {
  const value = (run: WorkloadRun): number | null => {
    const of = run.summary[quantity];
    return isRecord(of) ? finite(of[`${statistic}_ns`]) : null;
  };
  return {
    id: `${quantity}.${statistic}_ns`,
    title: `${quantityLabel(quantity)} ${statistic}`,
    align: 'right',
    value,
    show: (run) => <span title={nsExact(value(run))}>{ns(value(run))}</span>,
  };
}

function number(key: string, title: string, show: (value: number | null) => string): Column<WorkloadRun> {
  const value = (run: WorkloadRun): number | null => finite(run.summary[key]);
  return { id: key, title, align: 'right', value, show: (run) => show(value(run)) };
}

const STATISTICS_SHOWN = [
  ['ttft', 'p50'],
  ['ttft', 'p99'],
  ['tpot', 'p50'],
  ['itl', 'p50'],
  ['e2e', 'p50'],
  ['e2e', 'p99'],
] as const;

/** Columns that some run has a value in. */
export function runColumns(runs: readonly WorkloadRun[]): Column<WorkloadRun>[] {
  const columns: Column<WorkloadRun>[] = [
    {
      id: 'index',
      title: 'Run',
      align: 'right',
      width: '64px',
      value: (run) => run.index,
      show: (run) => `#${run.index}`,
    },
    { id: 'label', title: 'What tells it apart', value: (run) => run.label, width: '24%' },
    number('completed', 'Completed', count),
    number('request_throughput_per_s', 'Request rate', (value) => rate(value, 'req/s')),
    number('output_token_throughput_per_s', 'Output rate', (value) => rate(value, 'tok/s')),
    ...STATISTICS_SHOWN.map(([quantity, statistic]) => time(quantity, statistic)),
  ];
  return columns.filter(({ value }) => runs.some((run) => value(run) !== null));
}

/** All runs of a sweep, when the document has several. */
export function RunsPanel({ runs, chosen }: { readonly runs: readonly WorkloadRun[]; readonly chosen: number | null }): JSX.Element {
  const columns = useMemo(() => runColumns(runs), [runs]);
  return (
    <Panel
      title="Runs"
      area="runs"
      flush
      tools={<span class="wl-note">{`This page shows run #${chosen ?? 0}; layerscope workload --run N takes another`}</span>}
    >
      <RunsChart runs={runs} chosen={chosen} />
      <DataTable
        label="Runs"
        columns={columns}
        rows={runs}
        rowKey={(run) => run.index}
        isSelected={(run) => run.index === chosen}
        csvName="runs.csv"
        height="260px"
      />
    </Panel>
  );
}
