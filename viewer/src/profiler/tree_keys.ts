import { useRef } from 'preact/hooks';
import { rowAfterKey } from '../ui/table';
import type { TreeNode } from './module_tree';
import type { TreeGridProps } from './tree_grid';

/** Letters typed within this time make one word. */
const TYPE_AHEAD_MS = 700;

type KeyProps = Pick<TreeGridProps, 'tree' | 'rows' | 'open' | 'onToggle' | 'onToggleSiblings' | 'onSelect'>;

/** The next row, from `from` on and around, whose name begins with the text. */
export function rowByName(props: Pick<KeyProps, 'tree' | 'rows'>, from: number, text: string): number | null {
  const n = props.rows.length;
  for (let i = 0; i < n; i += 1) {
    const at = (from + i) % n;
    const name = props.tree.nodes[props.rows[at] ?? -1]?.name.toLowerCase();
    if (name?.startsWith(text) === true) return at;
  }
  return null;
}

function sideways(props: KeyProps, at: number, node: TreeNode, right: boolean): number | null {
  const isOpen = props.open.has(node.key);
  const foldable = node.children.length > 0 || node.more;
  if (right) {
    if (!foldable) return null;
    if (isOpen) return Math.min(props.rows.length - 1, at + 1);
    props.onToggle(node, true);
    return null;
  }
  if (foldable && isOpen) {
    props.onToggle(node, false);
    return null;
  }
  return node.parent === null ? null : props.rows.indexOf(node.parent);
}

/** Keys of a tree: arrows, Home, End, Page, Enter, Space, `*`, and the beginning of a name. */
export function useTreeKeys(
  props: KeyProps,
  current: () => number,
  go: (at: number) => void,
  page: number,
): (event: KeyboardEvent) => void {
  const typed = useRef({ text: '', when: 0 });
  const typeAhead = (key: string): void => {
    const now = performance.now();
    const word = now - typed.current.when < TYPE_AHEAD_MS ? typed.current.text + key : key;
    typed.current = { text: word, when: now };
    const next = rowByName(props, word.length > 1 ? current() : current() + 1, word.toLowerCase());
    if (next !== null) go(next);
  };
  return (event) => {
    const at = current();
    const node = props.tree.nodes[props.rows[at] ?? -1];
    const onRow = event.target instanceof HTMLElement && event.target.getAttribute('role') === 'row';
    if (node === undefined || !onRow || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = rowAfterKey(event.key, at, props.rows.length, page);
    if (next !== null) {
      go(next);
    } else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      const beside = sideways(props, at, node, event.key === 'ArrowRight');
      if (beside !== null && beside >= 0) go(beside);
    } else if (event.key === 'Enter' || event.key === ' ') {
      props.onSelect(node);
    } else if (event.key === '*') {
      props.onToggleSiblings(node);
    } else if (event.key.length === 1 && event.key !== '/') {
      typeAhead(event.key);
    } else {
      return;
    }
    event.preventDefault();
  };
}
