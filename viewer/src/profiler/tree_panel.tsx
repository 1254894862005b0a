import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { param, select, selection, setParam } from '../state/state';
import { counted } from '../ui/format';
import { HeatScale } from '../ui/heat_scale';
import type { RunMode } from './launch_mode';
import type { LayerPaths } from './layer_paths';
import type { ModuleTree, TreeNode } from './module_tree';
import { METRICS, type Metric, type TreeColumn, hasKernels, treeColumns } from './tree_columns';
import { TreeGrid } from './tree_grid';
import { type TreeSort, ancestors, firstOpen, matches, visibleRows } from './visible_rows';

interface TreePanelProps {
  readonly tree: ModuleTree;
  readonly run: RunMode;
  readonly timeName: string;
  readonly hasEvidence: boolean;
  /** Whose figures stand first, where it is not the whole run. */
  readonly mainTitle?: string;
  readonly paths: LayerPaths;
  readonly loadBelow: (node: TreeNode) => void;
  readonly grouped: boolean;
  /** Only what was loaded so far can be searched. */
  readonly isCut?: boolean;
  /** Where the figures come from, when there is a choice. */
  readonly tools?: ComponentChildren;
}

/** Names of the address change at most this often while one types. */
const TYPING_MS = 250;

function useSearch(): { text: string; setText: (text: string) => void } {
  const held = param('prof.q') ?? '';
  const [text, setText] = useState(held);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const written = useRef(held);
  useEffect(() => {
    // What was written here a moment ago must not take away what was typed since.
    if (held === written.current) return;
    written.current = held;
    setText(held);
  }, [held]);
  return {
    text,
    setText: (next) => {
      setText(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        written.current = next;
        setParam('prof.q', next === '' ? null : next);
      }, TYPING_MS);
    },
  };
}

function sortOfParam(): TreeSort | null {
  const text = param('prof.sort');
  if (text === null) return null;
  return text.startsWith('-') ? { column: text.slice(1), descending: true } : { column: text, descending: false };
}

/** One click: largest first; two: smallest first; three: the order of the calls. */
function nextSort(now: TreeSort | null, column: string): string | null {
  if (column === '') return null;
  if (now?.column !== column) return `-${column}`;
  return now.descending ? column : null;
}

function compareText(metric: Metric, timeName: string): string {
  const names: Readonly<Record<Metric, string>> = { gpu: `${timeName} time`, cpu: 'CPU time', kernels: 'kernels', calls: 'calls' };
  return names[metric];
}

function hasPasses(tree: ModuleTree): boolean {
  return tree.columns.some(({ selects }) => selects.request === undefined);
}

function metricOfParam(): Metric {
  return METRICS.find((metric) => metric === param('prof.metric')) ?? 'gpu';
}

function MetricChooser({ metric, timeName, all }: { metric: Metric; timeName: string; all: readonly Metric[] }): JSX.Element {
  const titles: Readonly<Record<Metric, string>> = { gpu: timeName, cpu: 'CPU', kernels: 'Kernels', calls: 'Calls' };
  return (
    <div class="segments" role="group" aria-label="What the compared columns show" title="What the columns at the right show: of each pass or request">
      <span class="segments-name" aria-hidden="true">Compare</span>
      {all.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={metric === name}
          onClick={() => {
            setParam('prof.metric', name === 'gpu' ? null : name);
          }}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}

/** Which rows are open; a selection from elsewhere opens the way to it. */
function useOpen(tree: ModuleTree): [ReadonlySet<string>, (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void] {
  const [changed, setChanged] = useState<ReadonlySet<string> | null>(null);
  const atFirst = useMemo(() => firstOpen(tree), [tree]);
  const open = changed ?? atFirst;
  const module = selection.value.module;
  const index = module === null ? undefined : tree.byPath.get(module);
  const revealed = useRef<string | null>(null);
  useEffect(() => {
    if (index === undefined || revealed.current === module) return;
    revealed.current = module;
    const missing = ancestors(tree, index).flatMap((above) => tree.nodes[above]?.key ?? []).filter((key) => !open.has(key));
    if (missing.length > 0) setChanged(new Set([...open, ...missing]));
  }, [index, module]);
  return [
    open,
    (change) => {
      setChanged((before) => change(before ?? atFirst));
    },
  ];
}

function useSlashKey(field: { readonly current: HTMLInputElement | null }): void {
  // From the moment that the field can be seen, so that no key is lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const from = event.target;
      const typing = from instanceof HTMLInputElement || from instanceof HTMLSelectElement || from instanceof HTMLTextAreaElement;
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || field.current?.offsetParent == null) return;
      event.preventDefault();
      field.current.focus();
      field.current.select();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
}

function SearchField({ text, setText, hits, isCut, onNext }: { text: string; setText: (text: string) => void; hits: number | null; isCut: boolean; onNext: () => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useSlashKey(field);
  return (
    <span class="search">
      <input
        ref={field}
        class="field"
        type="search"
        placeholder="Search modules  /"
        aria-label="Search modules"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onNext();
          if (event.key === 'Escape') setText('');
        }}
      />
      <span class="muted" role="status">
        {hits === null ? '' : `${counted(hits, 'match', 'matches')}${isCut ? ' in the levels opened so far' : ''}`}
      </span>
    </span>
  );
}

/** The module tree with its tools: search, open and close all, grouping, what is compared. */
export function TreePanel(props: TreePanelProps): JSX.Element {
  const { tree, run, timeName, hasEvidence, paths, mainTitle } = props;
  const metric = metricOfParam();
  const sort = sortOfParam();
  const { text, setText } = useSearch();
  const [open, changeOpen] = useOpen(tree);
  const columns = useMemo(
    () => treeColumns({ tree, metric, run, timeName, hasEvidence, ...(mainTitle === undefined ? {} : { mainTitle }) }),
    [tree, metric, run, timeName, hasEvidence, mainTitle],
  );
  const value = useCallback((node: TreeNode, id: string) => columns.find((column) => column.id === id)?.value(node) ?? null, [columns]);
  const hits = useMemo(() => (text.trim() === '' ? null : matches(tree, text)), [tree, text]);
  const hitSet = useMemo(() => new Set(hits ?? []), [hits]);
  const rows = useMemo(
    () => visibleRows(tree, open, hits, sort, value),
    [tree, open, hits, sort?.column, sort?.descending, value],
  );
  const onSelect = (node: TreeNode): void => {
    if (node.path !== '') select({ module: node.path, layer: paths.layerOf(node.path) });
  };
  const toggle = (node: TreeNode, opened: boolean): void => {
    if (opened && node.more) props.loadBelow(node);
    changeOpen((before) => {
      const after = new Set(before);
      if (opened) after.add(node.key);
      else after.delete(node.key);
      return after;
    });
  };
  const openAll = (nodes: readonly TreeNode[]): void => {
    changeOpen((before) => new Set([...before, ...nodes.filter((node) => node.children.length > 0).map((node) => node.key)]));
  };
  const pickColumn = (column: TreeColumn): void => {
    if (column.selects !== undefined) select(column.selects);
  };
  const picked = tree.columns.find(
    ({ selects }) =>
      (selects.pass !== undefined && selects.pass === selection.value.pass) ||
      (selects.request !== undefined && selects.request === selection.value.request),
  );
  const selectNextHit = (): void => {
    if (hits === null || hits.length === 0) return;
    const at = hits.findIndex((index) => tree.nodes[index]?.path === selection.value.module);
    const node = tree.nodes[hits[(at + 1) % hits.length] ?? -1];
    if (node !== undefined) onSelect(node);
  };
  return (
    <section class="panel tree-panel" aria-label="Module tree">
      <div class="panel-head">
        <h2>Modules</h2>
        <SearchField text={text} setText={setText} hits={hits === null ? null : hits.length} isCut={props.isCut === true} onNext={selectNextHit} />
        <div class="tools">
          {props.tools}
          {tree.columns.length > 0 && <MetricChooser metric={metric} timeName={timeName} all={METRICS.filter((name) => name !== 'kernels' || hasKernels(tree))} />}
          <button
            type="button"
            class="button"
            aria-pressed={props.grouped}
            onClick={() => {
              setParam('prof.flat', props.grouped ? '1' : null);
            }}
          >
            Group repeats
          </button>
          <button
            type="button"
            class="button"
            onClick={() => {
              openAll(tree.nodes);
            }}
          >
            Expand all
          </button>
          <button
            type="button"
            class="button"
            onClick={() => {
              changeOpen(() => new Set());
            }}
          >
            Collapse all
          </button>
        </div>
      </div>
      <TreeGrid
        tree={tree}
        rows={rows}
        columns={columns}
        open={open}
        hits={hitSet}
        selected={selection.value.module}
        sort={sort}
        onSort={(column) => {
          setParam('prof.sort', nextSort(sort, column));
        }}
        onToggle={toggle}
        onToggleSiblings={(node) => {
          const siblings = node.parent === null ? tree.roots : (tree.nodes[node.parent]?.children ?? []);
          openAll(siblings.flatMap((index) => tree.nodes[index] ?? []));
        }}
        onSelect={onSelect}
        onPickColumn={pickColumn}
        pickedColumn={picked === undefined ? null : `col.${picked.key}`}
      />
      {rows.length > 0 && (
        <p class="panel-note tree-note">
          <span>Bars: share of the parent</span>
          <HeatScale of="" />
          {tree.columns.length > 0 && <span>{hasPasses(tree) ? `Passes at the right: ${compareText(metric, timeName)} of the module in each; the head has the wall time of the whole pass` : `At the right: ${compareText(metric, timeName)} of the module in each`}</span>}
        </p>
      )}
      {rows.length === 0 && hits !== null && <p class="panel-note">No module matches. The search looks at names and classes.</p>}
    </section>
  );
}
