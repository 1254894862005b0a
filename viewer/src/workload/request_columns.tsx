/** The columns of the request table: what they show and how they go into a file. */
import type { JSX } from 'preact';
import { count, ns, nsExact, UNKNOWN } from '../ui/format';
import { NameText } from '../ui/name_text';
import type { Column } from '../ui/table';
import type { PointClass } from './classes';
import { extent } from './axis';
import { heatOf, rankShares } from './heat';
import { CLASS_MARKS, ClassMark } from './legend';
import type { WorkloadRequest } from './model';

export interface RequestRow {
  readonly position: number;
  readonly request: WorkloadRequest;
  readonly kind: PointClass;
}

type TimeKey = 'start_ns' | 'queue_ns' | 'ttft_ns' | 'tpot_ns' | 'decode_ns' | 'e2e_ns';

function Unknown(): JSX.Element {
  return (
    <span class="wl-none" title="Not in the document">
      {UNKNOWN}
    </span>
  );
}

interface HeatCellProps {
  readonly value: number | null;
  /** 0 to 1: how far into the slower half of its column. */
  readonly heat: number;
  /** 0 for the smallest value of the column, 1 for the largest. */
  readonly share: number;
}

/** The shade is the rank in the column, the bar the place between its smallest and its largest value. */
function HeatCell({ value, heat, share }: HeatCellProps): JSX.Element {
  if (value === null) return <Unknown />;
  return (
    <span class="wl-heat" style={{ '--heat': heat.toFixed(3), '--share': share.toFixed(4) }} title={nsExact(value)}>
      {ns(value)}
    </span>
  );
}

function timeColumn(
  key: TimeKey,
  title: string,
  about: string,
  requests: readonly WorkloadRequest[],
  heat = true,
): Column<RequestRow> {
  const values = requests.map((request) => request[key]);
  const [least, most] = extent(Float64Array.from(values, (value) => value ?? Number.NaN)) ?? [0, 0];
  const ranks = heat ? rankShares(values) : null;
  return {
    id: key,
    title,
    about,
    align: 'right',
    value: ({ request }) => request[key],
    show: ({ request, position }) =>
      ranks !== null ? (
        <HeatCell
          value={request[key]}
          heat={heatOf(ranks[position] ?? Number.NaN)}
          share={most > least ? ((request[key] ?? least) - least) / (most - least) : 0}
        />
      ) : request[key] === null ? (
        <Unknown />
      ) : (
        <span title={nsExact(request[key])}>{ns(request[key])}</span>
      ),
  };
}

function tokenColumn(key: 'input_tokens' | 'output_tokens', title: string, about: string): Column<RequestRow> {
  return {
    id: key,
    title,
    about,
    align: 'right',
    width: '86px',
    value: ({ request }) => request[key],
    show: ({ request }) => (request[key] === null ? <Unknown /> : count(request[key])),
  };
}

/** Columns for these requests; the error column only where there is an error. */
export function requestColumns(requests: readonly WorkloadRequest[]): readonly Column<RequestRow>[] {
  const columns: Column<RequestRow>[] = [
    {
      id: 'index',
      title: '#',
      about: 'Index of the request in the document',
      align: 'right',
      width: '72px',
      value: ({ request }) => request.index,
      show: ({ request }) => `#${request.index}`,
    },
    {
      id: 'status',
      title: 'Status',
      about: 'Below or above the queue threshold of the run; the legend has its value',
      width: '140px',
      value: ({ kind }) => CLASS_MARKS[kind].name,
      csvTitle: 'ok',
      csv: ({ request }) => String(request.ok),
      show: ({ kind }) => <ClassMark kind={kind} />,
    },
    timeColumn('start_ns', 'Start', 'After the first request of the run', requests, false),
    timeColumn('queue_ns', 'Queue', 'How long the client held it back before sending it', requests),
    timeColumn('ttft_ns', 'TTFT', 'Time to first token', requests),
    timeColumn('tpot_ns', 'TPOT', 'Time per output token after the first', requests),
    timeColumn('decode_ns', 'Decode', 'From the first to the last token', requests),
    timeColumn('e2e_ns', 'E2E', 'End to end: from the start to the last token', requests),
    tokenColumn('input_tokens', 'Input', 'Input tokens'),
    tokenColumn('output_tokens', 'Output', 'Output tokens'),
  ];
  if (requests.some((request) => request.error !== null && request.error !== '')) {
    columns.push({
      id: 'error',
      title: 'Error',
      about: 'What the client or the server said',
      width: '22%',
      value: ({ request }) => request.error,
      show: ({ request }) =>
        request.error === null || request.error === '' ? '' : <NameText text={request.error} limit={300} />,
    });
  }
  return columns;
}

/** What a file of requests holds: one row a request, with the keys of the document as heads. */
export function requestCsv(
  columns: readonly Column<RequestRow>[],
  rows: readonly RequestRow[],
): (string | number | null)[][] {
  return [
    columns.map((column) => column.csvTitle ?? column.id),
    ...rows.map((row) => columns.map((column) => (column.csv ?? column.value)(row))),
  ];
}
