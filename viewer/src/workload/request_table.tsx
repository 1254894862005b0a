import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { csv, download } from '../ui/download';
import { counted } from '../ui/format';
import { DataTable, ROW_HEIGHT, sortRows, type TableSort } from '../ui/table';
import { revealRow } from '../ui/use_window';
import type { PointClass } from './classes';
import type { WorkloadRequest } from './model';
import { requestColumns, requestCsv, type RequestRow } from './request_columns';

export interface RequestTableProps {
  readonly requests: readonly WorkloadRequest[];
  /** Positions of the requests that pass the filter. */
  readonly positions: readonly number[];
  readonly classes: readonly PointClass[];
  /** 1 = selected; null when nothing is. */
  readonly selected: Uint8Array | null;
  /** Show the selected rows alone. */
  readonly only: boolean;
  readonly chosen: number | null;
  readonly sort: TableSort;
  readonly onSort: (sort: TableSort) => void;
  readonly onOnly: (only: boolean) => void;
  readonly onChoose: (position: number | null) => void;
}

/** Pixels that the head of the table takes from its box. */
const HEAD_PX = 30;

/** All requests as rows; what is selected in the plots is marked, the chosen one scrolls into view. */
export function RequestTable(props: RequestTableProps): JSX.Element {
  const { requests, positions, classes, selected, only, chosen, sort } = props;
  const box = useRef<HTMLDivElement>(null);
  const columns = useMemo(() => requestColumns(requests), [requests]);
  const rows = useMemo(
    () =>
      positions.flatMap((position): RequestRow[] => {
        const request = requests[position];
        return request === undefined ? [] : [{ position, request, kind: classes[position] ?? 'unknown' }];
      }),
    [requests, positions, classes],
  );
  const sorted = useMemo(
    () => sortRows(rows, columns.find(({ id }) => id === sort.column), sort.descending),
    [rows, columns, sort.column, sort.descending],
  );
  const marked = useMemo(
    () => (selected === null ? [] : sorted.filter(({ position }) => selected[position] === 1)),
    [sorted, selected],
  );
  const seen = only && selected !== null ? marked : sorted;
  const row = chosen === null ? -1 : seen.findIndex(({ position }) => position === chosen);
  useEffect(() => {
    const scrolled = box.current?.querySelector('.table-box') ?? null;
    if (row >= 0 && scrolled !== null) revealRow(scrolled, row, ROW_HEIGHT, HEAD_PX);
  }, [row]);
  const save = (name: string, of: readonly RequestRow[]): void => {
    download(name, csv(requestCsv(columns, of)));
  };
  return (
    <div ref={box} class="wl-requests">
      <div class="wl-tools">
        <span class="wl-note" role="status">
          {selected === null
            ? counted(rows.length, 'request')
            : `${counted(marked.length, 'request')} of ${rows.length.toLocaleString('en-US')} selected`}
        </span>
        <label class="wl-check">
          <input
            type="checkbox"
            checked={only}
            disabled={selected === null}
            onChange={(event) => {
              props.onOnly(event.currentTarget.checked);
            }}
          />
          Selected rows only
        </label>
        <span class="wl-heat-note">
          <span class="wl-heat-ramp" aria-hidden="true" /> slower half of its column, bar: from its smallest to its largest value
        </span>
        <span class="wl-grow" />
        <button
          type="button"
          class="button small"
          disabled={selected === null}
          onClick={() => {
            save('requests_selected.csv', marked);
          }}
        >
          Download selected (CSV)
        </button>
        <button
          type="button"
          class="button small"
          onClick={() => {
            save('requests.csv', sorted);
          }}
        >
          Download all (CSV)
        </button>
      </div>
      <DataTable
        label="Requests"
        columns={columns}
        rows={seen}
        rowKey={({ position }) => position}
        sort={sort}
        areSorted
        onSort={props.onSort}
        isSelected={({ position }) => position === chosen}
        onSelect={({ position }) => {
          props.onChoose(position === chosen ? null : position);
        }}
        rowClass={({ position, kind }) =>
          `wl-row-${kind}${selected === null ? '' : selected[position] === 1 ? ' wl-marked' : ' wl-dim'}`
        }
        height="460px"
      />
    </div>
  );
}
