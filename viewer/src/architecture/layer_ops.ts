import type { ArchNode, Metric } from './model';
import { timeOf, valuesOf } from './model';
import { timeIn } from './flow';
import type { Spread } from './statistics';
import { spreadOf } from './statistics';

/** A row of vLayer: an op of the layer, or the module that the ops below it belong to. */
export type LayerRow =
  | { readonly kind: 'module'; readonly id: string; readonly node: ArchNode; readonly depth: number; readonly ns: number | null }
  | {
      readonly kind: 'op';
      readonly id: string;
      readonly node: ArchNode;
      readonly depth: number;
      /** In this layer. */
      readonly ns: number | null;
      readonly cpuNs: number | null;
      /** Over all layers of the type; null where the document has no values by layer. */
      readonly spread: Spread | null;
    };

export interface LayerRows {
  readonly rows: readonly LayerRow[];
  /** Ops that took no time in any layer, or that this layer does not have, and are not among the rows. */
  readonly hidden: number;
}

/** Ops of one layer in the order in which they ran, under their modules. */
export function layerRows(fold: ArchNode, member: number, metric: Metric, all: boolean): LayerRows {
  const rows: LayerRow[] = [];
  let hidden = 0;
  const visit = (node: ArchNode, depth: number): void => {
    for (const item of node.items) {
      if (item.kind === 'module') {
        const at = rows.length;
        rows.push({ kind: 'module', id: item.id, node: item, depth, ns: timeIn(item, metric, member) });
        visit(item, depth + 1);
        if (rows.length === at + 1 && !all) rows.pop();
        continue;
      }
      const values = valuesOf(item, metric);
      const ns = timeIn(item, metric, member);
      const isIdle = (timeOf(item, metric) ?? 0) === 0;
      if (!all && (isIdle || ns === null)) {
        hidden += 1;
        continue;
      }
      rows.push({
        kind: 'op',
        id: item.id,
        node: item,
        depth,
        ns,
        cpuNs: timeIn(item, 'cpu', member),
        spread: values === null ? null : spreadOf(values),
      });
    }
  };
  visit(fold, 0);
  return { rows, hidden };
}
