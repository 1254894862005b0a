import { batch } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { SourceError } from '../data/source';
import { select } from '../state/state';
import { count, ns, nsExact, rate } from '../ui/format';
import { NameText } from '../ui/name_text';
import { DataTable, type Column } from '../ui/table';
import { CopyButton } from '../ui/tooltip';
import { visibleText } from '../ui/visible_text';
import { LogSwitch } from './log_switch';
import { finite, isRecord, type WorkloadRun, type WorkloadSource } from './model';
import { Panel } from './panel';
import { quantityLabel } from './percentiles';
import { RunsChart } from './runs_chart';
import { askRun, logScale } from './workload_state';

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

function fileName(path: string): string {
  return path.split('/').at(-1) ?? path;
}

/** Columns that some run has a value in; the file only where there are several. */
export function runColumns(runs: readonly WorkloadRun[], sources: readonly WorkloadSource[] = []): Column<WorkloadRun>[] {
  const fileOf = (run: WorkloadRun): string | null => (run.source === null ? null : (sources[run.source]?.path ?? null));
  const severalFiles = new Set(runs.map(fileOf)).size > 1;
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
    {
      id: 'file',
      title: 'File',
      width: '16%',
      value: (run) => (severalFiles ? fileOf(run) : null),
      show: (run) => {
        const path = fileOf(run);
        return path === null ? '–' : <span title={visibleText(path)}><NameText text={fileName(path)} limit={40} /></span>;
      },
    },
    number('completed', 'Completed', count),
    number('request_throughput_per_s', 'Request rate', (value) => rate(value, 'req/s')),
    number('output_token_throughput_per_s', 'Output rate', (value) => rate(value, 'tok/s')),
    ...STATISTICS_SHOWN.map(([quantity, statistic]) => time(quantity, statistic)),
  ];
  return columns.filter(({ value }) => runs.some((run) => value(run) !== null));
}

/** A run that was asked for and that the source does not give. */
export interface MissingRun {
  readonly run: number;
  readonly why: SourceError;
}

interface RunsProps {
  readonly runs: readonly WorkloadRun[];
  readonly sources: readonly WorkloadSource[];
  readonly chosen: number | null;
  readonly missing: MissingRun | null;
}

/** How to see a run that this page does not hold. */
function HowTo({ missing, runs, sources }: Pick<RunsProps, 'runs' | 'sources'> & { missing: MissingRun }): JSX.Element {
  const known = runs.find(({ index }) => index === missing.run);
  if (known === undefined) {
    return (
      <p class="wl-note wl-run-missing" role="status">
        {`There is no run #${missing.run}; the document has #${runs[0]?.index ?? 0} to #${runs.at(-1)?.index ?? 0}.`}
      </p>
    );
  }
  const path = (known.source === null ? undefined : sources[known.source]?.path) ?? 'FILE';
  const command = `layerscope view ${path} --run ${missing.run}`;
  return (
    <div class="wl-run-missing" role="status">
      <span class="wl-note">{`Run #${missing.run} is not in this page. It is shown by`}</span>
      <code>
        <NameText text={command} limit={160} />
      </code>
      <CopyButton text={() => command} />
    </div>
  );
}

/** All runs of a sweep, when the document has several; a row leads to its run where the source can give it. */
export function RunsPanel({ runs, sources, chosen, missing }: RunsProps): JSX.Element {
  const columns = useMemo(() => runColumns(runs, sources), [runs, sources]);
  return (
    <Panel
      title="Runs"
      area="runs"
      flush
      tools={
        <>
          <span class="wl-note">{`This page shows run #${chosen ?? 0}; a click on a row shows another`}</span>
          <LogSwitch />
        </>
      }
    >
      <RunsChart runs={runs} chosen={chosen} log={logScale()} />
      {missing !== null && <HowTo missing={missing} runs={runs} sources={sources} />}
      <DataTable
        label="Runs"
        columns={columns}
        rows={runs}
        rowKey={(run) => run.index}
        isSelected={(run) => run.index === chosen}
        onSelect={(run) => {
          batch(() => {
            // Requests of another run have numbers of their own.
            select({ request: null });
            askRun(run.index);
          });
        }}
        csvName="runs.csv"
        height="260px"
      />
    </Panel>
  );
}
