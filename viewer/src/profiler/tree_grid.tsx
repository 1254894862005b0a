import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { NameText } from '../ui/name_text';
import { tipProps } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { revealRow, useScrollTop, windowOf } from '../ui/use_window';
import { visibleText } from '../ui/visible_text';
import type { ModuleTree, TreeNode } from './module_tree';
import './tree.css';
import type { TreeColumn } from './tree_columns';
import { useTreeKeys } from './tree_keys';
import type { TreeSort } from './visible_rows';

export const TREE_ROW = 26;
const TREE_HEAD = 42;
const LEAST_NAME = 214;

export interface TreeGridProps {
  readonly tree: ModuleTree;
  readonly rows: readonly number[];
  readonly columns: readonly TreeColumn[];
  readonly open: ReadonlySet<string>;
  readonly hits: ReadonlySet<number>;
  readonly selected: string | null;
  readonly sort: TreeSort | null;
  readonly onSort: (column: string) => void;
  readonly onToggle: (node: TreeNode, open: boolean) => void;
  readonly onToggleSiblings: (node: TreeNode) => void;
  readonly onSelect: (node: TreeNode) => void;
  readonly onPickColumn: (column: TreeColumn) => void;
  readonly pickedColumn: string | null;
}

function templateOf(columns: readonly TreeColumn[]): string {
  return `minmax(${LEAST_NAME}px, 1fr) ${columns.map((column) => `${column.width}px`).join(' ')}`;
}

/** Names are cut before the table grows: only columns that do not fit make it scroll. */
function leastWidth(columns: readonly TreeColumn[]): number {
  return columns.reduce((sum, column) => sum + column.width, LEAST_NAME);
}

function HeadCell({ column, props }: { column: TreeColumn; props: TreeGridProps }): JSX.Element {
  const sorted = props.sort?.column === column.id;
  const direction = sorted ? (props.sort.descending ? 'descending' : 'ascending') : 'none';
  return (
    <div role="columnheader" aria-sort={direction} class={`tree-head right ${props.pickedColumn === column.id ? 'picked' : ''}`}>
      <button
        type="button"
        class="sort"
        {...tipProps(() => column.about)}
        onClick={() => {
          props.onSort(column.id);
          if (column.selects !== undefined) props.onPickColumn(column);
        }}
      >
        <span>
          {column.title}
          {sorted && <span aria-hidden="true"> {props.sort.descending ? '▾' : '▴'}</span>}
        </span>
        {column.subtitle !== undefined && <span class="tree-subtitle">{column.subtitle}</span>}
      </button>
    </div>
  );
}

function TreeHead({ props }: { props: TreeGridProps }): JSX.Element {
  return (
    <div role="row" aria-rowindex={1} class="tree-row tree-heads">
      <div role="columnheader" class="tree-head" aria-sort={props.sort === null ? 'other' : 'none'}>
        <button
          type="button"
          class="sort"
          {...tipProps(() => ({ title: 'In the order of the calls' }))}
          onClick={() => {
            props.onSort('');
          }}
        >
          Module
        </button>
      </div>
      {props.columns.map((column) => (
        <HeadCell key={column.id} column={column} props={props} />
      ))}
    </div>
  );
}

interface RowProps {
  readonly node: TreeNode;
  readonly at: number;
  readonly focusable: boolean;
  readonly hit: boolean;
  readonly props: TreeGridProps;
  readonly onFocus: () => void;
}

function NameCell({ node, props, hit }: { node: TreeNode; props: TreeGridProps; hit: boolean }): JSX.Element {
  const foldable = node.children.length > 0 || node.more;
  const isOpen = props.open.has(node.key);
  const told = (): { title: string; rows: [string, string][]; copy: string } => ({
    title: visibleText(node.path === '' ? node.name : node.path),
    rows: node.class === null ? [] : [['class', visibleText(node.class)]],
    copy: node.path,
  });
  return (
    <div role="gridcell" class="tree-name" style={{ paddingLeft: `${8 + (node.depth - 1) * 14}px` }}>
      <span
        class={`twisty ${foldable ? 'foldable' : ''} ${isOpen ? 'open' : ''}`}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          if (foldable) props.onToggle(node, !isOpen);
        }}
      />
      <span class={`tree-label ${hit ? 'hit' : ''}`} {...tipProps(told)}>
        <NameText text={node.name} tip={false} limit={120} />
        {node.repeat > 1 && <span class="times">×{node.repeat}</span>}
        {node.class !== null && !node.name.startsWith(node.class) && (
          <NameText text={node.class} tip={false} limit={60} class="tree-class" />
        )}
      </span>
    </div>
  );
}

function TreeRow({ node, at, focusable, hit, props, onFocus }: RowProps): JSX.Element {
  const foldable = node.children.length > 0 || node.more;
  const isOpen = props.open.has(node.key);
  const isSelected = props.selected !== null && node.path === props.selected;
  return (
    <div
      role="row"
      data-row={at}
      aria-rowindex={at + 2}
      aria-level={node.depth}
      aria-expanded={foldable ? isOpen : undefined}
      aria-selected={isSelected}
      tabIndex={focusable ? 0 : -1}
      class={`tree-row ${isSelected ? 'selected' : ''}`}
      onFocus={onFocus}
      onClick={() => {
        props.onSelect(node);
      }}
      onDblClick={() => {
        if (foldable) props.onToggle(node, !isOpen);
      }}
    >
      <NameCell node={node} props={props} hit={hit} />
      {props.columns.map((column) => {
        const tip = column.tip;
        return (
          <div
            key={column.id}
            role="gridcell"
            data-column={column.id}
            class="tree-cell right"
            {...(tip === undefined ? {} : tipProps(() => tip(node)))}
          >
            {column.cell(node)}
          </div>
        );
      })}
    </div>
  );
}

interface FocusedRow {
  /** The row as it was rendered. */
  readonly at: number;
  /** The row that the next key acts on: keys may come faster than rows are rendered. */
  readonly now: () => number;
  readonly go: (at: number) => void;
  readonly seen: (at: number) => void;
}

/** Focus follows the row after it was rendered; a row out of sight is scrolled to first. */
function useFocusedRow(box: RefObject<HTMLDivElement>, props: TreeGridProps): FocusedRow {
  const [key, setKey] = useState<string | null>(null);
  const wanted = useRef(false);
  const now = useRef(0);
  const found = props.rows.findIndex((index) => props.tree.nodes[index]?.key === key);
  const chosen = props.rows.findIndex((index) => props.tree.nodes[index]?.path === props.selected);
  const at = found >= 0 ? found : Math.max(0, chosen);
  if (!wanted.current) now.current = at;
  useLayoutEffect(() => {
    if (!wanted.current || now.current !== at) return;
    const row = box.current?.querySelector<HTMLElement>(`[data-row="${at}"]`);
    if (row === null || row === undefined) return;
    wanted.current = false;
    row.focus({ preventScroll: true });
  });
  const keyAt = (index: number): string | null => props.tree.nodes[props.rows[index] ?? -1]?.key ?? null;
  return {
    at,
    now: () => now.current,
    seen: (index) => {
      wanted.current = false;
      now.current = index;
      setKey(keyAt(index));
    },
    go: (index) => {
      wanted.current = true;
      now.current = index;
      if (box.current !== null) revealRow(box.current, index, TREE_ROW, TREE_HEAD);
      setKey(keyAt(index));
    },
  };
}

/** Brings the selected module into view when the selection comes from elsewhere. */
function useRevealSelected(box: RefObject<HTMLDivElement>, props: TreeGridProps, ready: boolean): void {
  const shown = useRef<string | null>(null);
  useEffect(() => {
    if (!ready || props.selected === null || shown.current === props.selected || box.current === null) return;
    const at = props.rows.findIndex((index) => props.tree.nodes[index]?.path === props.selected);
    if (at < 0) return;
    shown.current = props.selected;
    revealRow(box.current, at, TREE_ROW, TREE_HEAD);
  });
}

/** The module tree as rows; only those that are seen are in the page. */
export function TreeGrid(props: TreeGridProps): JSX.Element {
  const { ref: box, height } = useSize<HTMLDivElement>();
  const [top, onScroll] = useScrollTop(TREE_ROW);
  const shown = windowOf(props.rows.length, TREE_ROW, top, height === 0 ? 600 : height);
  const focus = useFocusedRow(box, props);
  useRevealSelected(box, props, height > 0);
  const onKeyDown = useTreeKeys(props, focus.now, focus.go, Math.max(1, Math.floor((height - TREE_HEAD) / TREE_ROW) - 1));
  const style = useMemo(() => ({ '--tree-columns': templateOf(props.columns) }), [props.columns]);
  const focusable = focus.at >= shown.first && focus.at < shown.end ? focus.at : shown.first;
  return (
    <div class="tree-box" ref={box} onScroll={onScroll} style={style}>
      <div
        role="treegrid"
        aria-label="Modules"
        aria-rowcount={props.rows.length + 1}
        class="tree"
        style={{ minWidth: `${leastWidth(props.columns)}px` }}
        onKeyDown={onKeyDown}
      >
        <TreeHead props={props} />
        <div role="presentation" style={{ height: `${shown.above}px` }} />
        {props.rows.slice(shown.first, shown.end).map((index, i) => {
          const node = props.tree.nodes[index];
          const at = shown.first + i;
          return node === undefined ? null : (
            <TreeRow
              key={node.key}
              node={node}
              at={at}
              focusable={at === focusable}
              hit={props.hits.has(index)}
              props={props}
              onFocus={() => {
                focus.seen(at);
              }}
            />
          );
        })}
        <div role="presentation" style={{ height: `${shown.below}px` }} />
      </div>
    </div>
  );
}
