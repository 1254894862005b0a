import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted } from '../ui/format';
import { visibleText } from '../ui/visible_text';
import type { FlowContext } from './block';
import { BlockFace, FlowHead } from './block';
import type { FlowEntry } from './flow';
import { flowEntries, quietNames } from './flow';
import type { ArchNode } from './model';

/** Entries of one list that are drawn at once; the rest is one step away. */
const PAGE = 40;

interface FlowViewProps {
  readonly items: readonly ArchNode[];
  readonly context: FlowContext;
  readonly label: string;
  /** Blocks that are open at first. */
  readonly open: ReadonlySet<string>;
  readonly onDrill: (node: ArchNode) => void;
  /** What the pointer or the focus is on; null: nothing. */
  readonly onLook: (node: ArchNode | null) => void;
}

interface Tree extends FlowViewProps {
  readonly isOpen: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly limitOf: (id: string) => number;
  readonly showMore: (id: string) => void;
  readonly focused: string | null;
  readonly setFocused: (id: string) => void;
}

function Caret({ open, onToggle }: { open: boolean; onToggle: () => void }): JSX.Element {
  return (
    <span
      class="arch-caret"
      aria-hidden="true"
      data-open={open}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      <svg viewBox="0 0 10 10" width="10" height="10">
        <path d="M3 1.5 7 5 3 8.5" fill="none" stroke="currentColor" stroke-width="1.6" />
      </svg>
    </span>
  );
}

function Arrow(): JSX.Element {
  return (
    <li class="arch-arrow" role="none" aria-hidden="true">
      <svg viewBox="0 0 12 16" width="12" height="16">
        <path d="M6 0v13M2.5 9.5 6 13.5l3.5-4" fill="none" stroke="currentColor" stroke-width="1.4" />
      </svg>
    </li>
  );
}

interface ItemProps {
  readonly tree: Tree;
  readonly level: number;
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly node: ArchNode | null;
  readonly below: readonly ArchNode[];
  readonly face: JSX.Element;
  readonly children?: JSX.Element | null;
}

function Item({ tree, level, id, label, kind, node, below, face, children = null }: ItemProps): JSX.Element {
  const canOpen = below.length > 0;
  const open = canOpen && tree.isOpen(id);
  const act = (): void => {
    if (node === null) tree.toggle(id);
    else tree.onDrill(node);
  };
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-label={label}
      aria-expanded={canOpen ? open : undefined}
      tabIndex={tree.focused === id ? 0 : -1}
      data-id={id}
      class={`arch-item arch-item-${kind} ${open ? 'open' : ''}`}
      onFocus={(event) => {
        if (event.target !== event.currentTarget) return;
        tree.setFocused(id);
        tree.onLook(node);
      }}
    >
      <div
        class="arch-block"
        data-block={id}
        onClick={act}
        onPointerEnter={() => {
          tree.onLook(node);
        }}
      >
        {canOpen ? (
          <Caret
            open={open}
            onToggle={() => {
              tree.toggle(id);
            }}
          />
        ) : (
          <span class="arch-caret-gap" />
        )}
        {face}
      </div>
      {open && <List tree={tree} items={below} level={level + 1} id={id} />}
      {children}
    </li>
  );
}

function QuietItem({ entry, tree, level }: { entry: FlowEntry & { kind: 'quiet' }; tree: Tree; level: number }): JSX.Element {
  const text = `${counted(entry.nodes.length, 'op')} without ${tree.context.metric === 'gpu' ? 'GPU' : 'CPU'} time`;
  const names = visibleText(quietNames(entry.nodes));
  return (
    <Item
      tree={tree}
      level={level}
      id={entry.id}
      label={`${text}: ${names}`}
      kind="quiet"
      node={null}
      below={entry.nodes}
      face={
        <span class="arch-quiet-face">
          {text} <span class="arch-quiet-names">{names}</span>
        </span>
      }
    />
  );
}

function NodeItem({ node, tree, level }: { node: ArchNode; tree: Tree; level: number }): JSX.Element {
  return (
    <Item
      tree={tree}
      level={level}
      id={node.id}
      label={`${visibleText(node.title)}${node.repeat > 1 ? ` times ${node.repeat}` : ''}`}
      kind={node.repeat > 1 ? 'fold' : node.kind}
      node={node}
      below={node.items}
      face={<BlockFace node={node} context={tree.context} />}
    />
  );
}

function Entry({ entry, tree, level }: { entry: FlowEntry; tree: Tree; level: number }): JSX.Element {
  if (entry.kind === 'node') return <NodeItem node={entry.node} tree={tree} level={level} />;
  if (entry.kind === 'quiet') return <QuietItem entry={entry} tree={tree} level={level} />;
  const layers = entry.nodes.reduce((sum, node) => sum + node.repeat, 0);
  return (
    <li role="none" class="arch-pattern">
      <div class="arch-pattern-head">
        <strong>{visibleText(entry.text)}</strong>
        <span class="arch-quiet">{counted(layers, 'layer')}, types take turns</span>
      </div>
      <ul role="none">
        {entry.nodes.map((node, at) => (
          <>
            {at > 0 && <Arrow key={`to ${node.id}`} />}
            <NodeItem key={node.id} node={node} tree={tree} level={level} />
          </>
        ))}
      </ul>
    </li>
  );
}

function List({ tree, items, level, id }: { tree: Tree; items: readonly ArchNode[]; level: number; id: string }): JSX.Element {
  const { model, metric } = tree.context;
  // A row of ops that was opened shows each of them.
  const entries = useMemo(
    (): readonly FlowEntry[] =>
      id.startsWith('quiet:') ? items.map((node) => ({ kind: 'node', id: node.id, node })) : flowEntries(items, model, metric),
    [items, model, metric, id],
  );
  const limit = tree.limitOf(id);
  const left = entries.length - limit;
  return (
    <ul role={level === 1 ? 'none' : 'group'} class="arch-list">
      {entries.slice(0, limit).map((entry, at) => (
        <>
          {at > 0 && <Arrow key={`to ${entry.id}`} />}
          <Entry key={entry.id} entry={entry} tree={tree} level={level} />
        </>
      ))}
      {left > 0 && (
        <li
          role="treeitem"
          aria-level={level}
          aria-label={`Show ${Math.min(left, PAGE)} more of ${left}`}
          tabIndex={tree.focused === `more:${id}` ? 0 : -1}
          data-id={`more:${id}`}
          data-more={id}
          class="arch-more"
          onFocus={() => {
            tree.setFocused(`more:${id}`);
          }}
          onClick={() => {
            tree.showMore(id);
          }}
        >
          Show {Math.min(left, PAGE)} more of {counted(left, 'block')}
        </li>
      )}
    </ul>
  );
}

/** The item that a key leads to, in the order in which blocks are seen. */
function neighbour(root: Element, at: HTMLElement, key: string): HTMLElement | null {
  const all = [...root.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const index = all.indexOf(at);
  if (key === 'ArrowDown') return all[index + 1] ?? null;
  if (key === 'ArrowUp') return all[index - 1] ?? null;
  if (key === 'Home') return all[0] ?? null;
  if (key === 'End') return all[all.length - 1] ?? null;
  return null;
}

function useTree(props: FlowViewProps): Tree & { onKeyDown: (event: KeyboardEvent) => void } {
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(new Map());
  const [focused, setFocused] = useState<string | null>(null);
  const isOpen = (id: string): boolean => toggled.get(id) ?? props.open.has(id);
  const set = (id: string, open: boolean): void => {
    setToggled((before) => new Map(before).set(id, open));
  };
  const limitOf = (id: string): number => limits.get(id) ?? PAGE;
  const showMore = (id: string): void => {
    setLimits((before) => new Map(before).set(id, limitOf(id) + PAGE * 2));
  };
  const drillOrOpen = (id: string, item: HTMLElement): void => {
    const more = item.dataset.more;
    const node = props.context.model.byId.get(id);
    if (more !== undefined) showMore(more);
    else if (node === undefined) set(id, !isOpen(id));
    else props.onDrill(node);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const item = (event.target as HTMLElement).closest<HTMLElement>('[role=treeitem]');
    const id = item?.dataset.id;
    if (item === null || id === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const expanded = item.getAttribute('aria-expanded');
    let to: HTMLElement | null = null;
    if (event.key === 'Enter' || event.key === ' ') drillOrOpen(id, item);
    else if (event.key === 'ArrowRight' && expanded === 'false') set(id, true);
    else if (event.key === 'ArrowRight' && expanded === 'true') to = item.querySelector('[role=treeitem]');
    else if (event.key === 'ArrowLeft' && expanded === 'true') set(id, false);
    else if (event.key === 'ArrowLeft') to = item.parentElement?.closest<HTMLElement>('[role=treeitem]') ?? null;
    else to = neighbour(event.currentTarget as Element, item, event.key);
    const handled = ['Enter', ' ', 'ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key);
    if (!handled) return;
    event.preventDefault();
    to?.focus();
  };
  return {
    ...props,
    isOpen,
    toggle: (id) => {
      set(id, !isOpen(id));
    },
    limitOf,
    showMore,
    focused,
    setFocused,
    onKeyDown,
  };
}

/**
 * Modules and ops as blocks with arrows, in the order in which they run. Arrows move between blocks and open
 * them, Enter goes in.
 */
export function FlowView(props: FlowViewProps): JSX.Element {
  const tree = useTree(props);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current === null) return;
    // One block can always be reached by the Tab key.
    if (box.current.querySelector('[role=treeitem][tabindex="0"]') === null) {
      const first = box.current.querySelector<HTMLElement>('[role=treeitem]')?.dataset.id;
      if (first !== undefined) tree.setFocused(first);
    }
  });
  return (
    <div class="arch-flow">
      <FlowHead context={props.context} />
      <div
        ref={box}
        role="tree"
        aria-label={props.label}
        onKeyDown={tree.onKeyDown}
        onPointerLeave={() => {
          props.onLook(null);
        }}
      >
        <List tree={tree} items={props.items} level={1} id="" />
      </div>
    </div>
  );
}
