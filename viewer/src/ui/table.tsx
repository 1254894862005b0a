import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { csv, download } from './download';
import { count } from './format';
import { NameText } from './name_text';
import { type CellValue, inOrder } from './order';
import { tipProps } from './tooltip';
import { useSize } from './use_size';
import { revealRow, useScrollTop, windowOf } from './use_window';

export interface Column<R> {
  readonly id: string;
  readonly title: string;
  /** What the column means, as its tooltip. */
  readonly about?: string;
  /** Sorts and goes into the CSV, unless `csv` says otherwise. */
  readonly value: (row: R) => CellValue;
  /** What is seen; default: the value as text. */
  readonly show?: (row: R) => ComponentChildren;
  readonly csv?: (row: R) => CellValue;
  /** Heading in the CSV, with the unit (`ttft_ns`); default: id. */
  readonly csvTitle?: string;
  readonly align?: 'left' | 'right';
  /** CSS width; columns without one share what is left. */
  readonly width?: string;
}

export interface TableSort {
  readonly column: string;
  readonly descending: boolean;
}

interface TableProps<R> {
  /** Says what the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string | number;
  readonly sort?: TableSort;
  readonly onSort?: (sort: TableSort) => void;
  /** The rows come in the order of `sort`. */
  readonly areSorted?: boolean;
  readonly isSelected?: (row: R) => boolean;
  /** Click, Enter or Space on a row. */
  readonly onSelect?: (row: R, event: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }) => void;
  readonly rowClass?: (row: R) => string;
  /** Name of the CSV file; none: no download. */
  readonly csvName?: string;
  /** CSS height of the box that scrolls. */
  readonly height?: string;
  /** Stands left of the download button. */
  readonly caption?: ComponentChildren;
}

export const ROW_HEIGHT = 26;
const HEAD_HEIGHT = 30;

/** Sorted copy; equal rows keep their order. */
export function sortRows<R>(rows: readonly R[], column: Column<R> | undefined, descending: boolean): readonly R[] {
  if (column === undefined) return rows;
  const keyed = rows.map((row) => ({ row, key: column.value(row) }));
  keyed.sort((a, b) => inOrder(a.key, b.key, descending));
  return keyed.map(({ row }) => row);
}

function toCsv<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  const heads = columns.map((column) => column.csvTitle ?? column.id);
  return csv([heads, ...rows.map((row) => columns.map((column) => (column.csv ?? column.value)(row)))]);
}

interface HeadProps<R> {
  readonly columns: readonly Column<R>[];
  readonly sort: TableSort | undefined;
  readonly onSort: (sort: TableSort) => void;
}

function HeadRow<R>({ columns, sort, onSort }: HeadProps<R>): JSX.Element {
  return (
    <tr aria-rowindex={1}>
      {columns.map((column) => {
        const sorted = sort?.column === column.id;
        const direction = sorted ? (sort.descending ? 'descending' : 'ascending') : 'none';
        const about = column.about;
        return (
          <th key={column.id} scope="col" class={column.align === 'right' ? 'right' : ''} aria-sort={direction}>
            <button
              type="button"
              class="sort"
              {...(about === undefined ? {} : tipProps(() => ({ title: about })))}
              onClick={() => {
                onSort({ column: column.id, descending: sorted ? !sort.descending : column.align === 'right' });
              }}
            >
              {column.title}
              {sorted && <span aria-hidden="true"> {sort.descending ? '▾' : '▴'}</span>}
            </button>
          </th>
        );
      })}
    </tr>
  );
}

function Cell<R>({ column, row }: { column: Column<R>; row: R }): JSX.Element {
  const value = column.value(row);
  return (
    <td class={column.align === 'right' ? 'right' : ''}>
      {column.show !== undefined ? column.show(row) : typeof value === 'string' ? <NameText text={value} /> : count(value)}
    </td>
  );
}

/** Where a key leads from row `at` of `n`; null: the key is for something else. */
export function rowAfterKey(key: string, at: number, n: number, page: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: n - 1,
  };
  const next = steps[key];
  return next === undefined ? null : Math.max(0, Math.min(n - 1, next));
}

function useRowFocus(box: RefObject<HTMLDivElement>, n: number): { at: number; go: (index: number) => void; seen: (index: number) => void } {
  const [at, setAt] = useState(0);
  const wanted = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    box.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)?.focus({ preventScroll: true });
    wanted.current = null;
  });
  return {
    at: Math.min(at, Math.max(0, n - 1)),
    seen: setAt,
    go: (index) => {
      wanted.current = index;
      if (box.current !== null) revealRow(box.current, index, ROW_HEIGHT, HEAD_HEIGHT);
      setAt(index);
    },
  };
}

/**
 * A table that sorts, takes the keyboard (arrows, Page, Home, End, Enter), downloads as CSV, and
 * holds only the rows that are seen: ten thousand cost as much as forty.
 */
export function DataTable<R>(props: TableProps<R>): JSX.Element {
  const { columns, rows, rowKey, onSelect, isSelected } = props;
  const [ownSort, setOwnSort] = useState<TableSort | undefined>(props.sort);
  const sort = props.onSort === undefined ? ownSort : props.sort;
  const sorted = useMemo(
    () => (props.areSorted === true ? rows : sortRows(rows, columns.find((column) => column.id === sort?.column), sort?.descending ?? false)),
    [rows, columns, sort?.column, sort?.descending, props.areSorted],
  );
  const { ref: box, height } = useSize<HTMLDivElement>();
  const [top, onScroll] = useScrollTop(ROW_HEIGHT);
  const shown = windowOf(sorted.length, ROW_HEIGHT, top, height === 0 ? 600 : height);
  const focus = useRowFocus(box, sorted.length);
  const onKeyDown = (event: KeyboardEvent, row: R): void => {
    const next = rowAfterKey(event.key, focus.at, sorted.length, Math.max(1, Math.floor(height / ROW_HEIGHT) - 2));
    if (next !== null) {
      event.preventDefault();
      focus.go(next);
    } else if ((event.key === 'Enter' || event.key === ' ') && onSelect !== undefined) {
      event.preventDefault();
      onSelect(row, event);
    }
  };
  const focusable = focus.at >= shown.first && focus.at < shown.end ? focus.at : shown.first;
  return (
    <div class="table">
      {(props.caption !== undefined || props.csvName !== undefined) && (
        <div class="table-bar">
          <div>{props.caption}</div>
          {props.csvName !== undefined && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                download(props.csvName ?? 'table.csv', toCsv(columns, sorted));
              }}
            >
              Download CSV
            </button>
          )}
        </div>
      )}
      <div class="table-box" ref={box} onScroll={onScroll} style={{ maxHeight: props.height ?? '420px' }}>
        <table role={onSelect === undefined ? undefined : 'grid'} aria-label={props.label} aria-rowcount={sorted.length + 1}>
          <colgroup>
            {columns.map((column) => (
              <col key={column.id} style={column.width === undefined ? {} : { width: column.width }} />
            ))}
          </colgroup>
          <thead>
            <HeadRow columns={columns} sort={sort} onSort={props.onSort ?? setOwnSort} />
          </thead>
          <tbody>
            {shown.above > 0 && <tr aria-hidden="true" style={{ height: `${shown.above}px` }} />}
            {sorted.slice(shown.first, shown.end).map((row, i) => {
              const index = shown.first + i;
              return (
                <tr
                  key={rowKey(row)}
                  data-row={index}
                  aria-rowindex={index + 2}
                  aria-selected={isSelected === undefined ? undefined : isSelected(row)}
                  tabIndex={index === focusable ? 0 : -1}
                  class={`${props.rowClass?.(row) ?? ''} ${isSelected?.(row) === true ? 'selected' : ''} ${onSelect === undefined ? '' : 'clickable'}`}
                  onFocus={() => {
                    if (focus.at !== index) focus.seen(index);
                  }}
                  onKeyDown={(event) => {
                    onKeyDown(event, row);
                  }}
                  onClick={(event) => {
                    onSelect?.(row, event);
                  }}
                >
                  {columns.map((column) => (
                    <Cell key={column.id} column={column} row={row} />
                  ))}
                </tr>
              );
            })}
            {shown.below > 0 && <tr aria-hidden="true" style={{ height: `${shown.below}px` }} />}
          </tbody>
        </table>
      </div>
    </div>
  );
}
