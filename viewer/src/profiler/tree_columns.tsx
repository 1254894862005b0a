import type { ComponentChildren, JSX } from 'preact';
import { EvidenceBar, evidenceClasses } from '../frame/evidence';
import { count, ns, nsExact, share } from '../ui/format';
import { heatColor, words } from '../ui/palette';
import type { TipContent } from '../ui/tooltip';
import { type RunMode, launchMode } from './launch_mode';
import { type ModuleTree, type Spent, type TreeNode, parentGpu, parentOf } from './module_tree';

/** What the compared columns show. */
export const METRICS = ['gpu', 'cpu', 'kernels', 'calls'] as const;
export type Metric = (typeof METRICS)[number];

export interface TreeColumn {
  readonly id: string;
  readonly title: string;
  readonly subtitle?: string;
  /** In pixels. */
  readonly width: number;
  readonly about: TipContent;
  readonly value: (node: TreeNode) => number | string | null;
  readonly cell: (node: TreeNode) => ComponentChildren;
  readonly tip?: (node: TreeNode) => TipContent;
  readonly selects?: { readonly pass?: number; readonly request?: number };
}

export interface ColumnOptions {
  readonly tree: ModuleTree;
  readonly metric: Metric;
  readonly run: RunMode;
  /** "GPU", or "op" where the trace holds no GPU. */
  readonly timeName: string;
  readonly hasEvidence: boolean;
  /** Whose figures stand first, where it is not the whole run. */
  readonly mainTitle?: string;
}

const METRIC_NAMES: Readonly<Partial<Record<Metric, string>>> = { cpu: 'CPU time', kernels: 'kernels', calls: 'calls' };

function metricText(metric: Metric, value: number | null): string {
  return metric === 'gpu' || metric === 'cpu' ? ns(value) : count(value);
}

function part(value: number | null, whole: number | null): number | null {
  return value === null || whole === null || whole === 0 ? null : Math.min(1, value / whole);
}

/** Number over a bar of its share, green to red; the bar's length and the number say the same. */
function HotCell({ text, portion }: { text: string; portion: number | null }): JSX.Element {
  return (
    <span class="hot">
      <span class="hot-text">{text}</span>
      <span class="hot-track" aria-hidden="true">
        {portion !== null && (
          <span class="hot-bar" style={{ width: `${(portion * 100).toFixed(2)}%`, background: heatColor(portion) }} />
        )}
      </span>
    </span>
  );
}

function gpuColumn({ tree, timeName, mainTitle }: ColumnOptions): TreeColumn {
  return {
    id: 'gpu',
    title: `${timeName} time`,
    ...(mainTitle === undefined ? {} : { subtitle: `of ${mainTitle}` }),
    width: 108,
    about: { title: `${timeName} time of the module and all below it; the bar is its share of its parent, green for a small one, red for all of it` },
    value: (node) => node.spent.gpu,
    cell: (node) => <HotCell text={ns(node.spent.gpu)} portion={part(node.spent.gpu, parentGpu(tree, node, null))} />,
    tip: (node) => ({
      rows: [
        [`${timeName} time`, nsExact(node.spent.gpu)],
        ['of parent', share(node.spent.gpu, parentGpu(tree, node, null))],
        ['of all', share(node.spent.gpu, tree.total)],
      ],
    }),
  };
}

/** False for a trace without a GPU: a column of zeros says nothing. */
export function hasKernels(tree: ModuleTree): boolean {
  return tree.nodes.some((node) => (node.spent.kernels ?? 0) > 0);
}

function kernelsColumn(): TreeColumn {
  return {
    id: 'kernels',
    title: 'Kernels',
    width: 72,
    about: { title: 'Kernels of the module and all below it' },
    value: (node) => node.spent.kernels,
    cell: (node) => count(node.spent.kernels),
  };
}

function plainColumns({ tree, timeName }: ColumnOptions): readonly TreeColumn[] {
  return [
    {
      id: 'share',
      title: 'Of parent',
      width: 84,
      about: { title: `Share of the parent's ${timeName} time; of a root: of all` },
      value: (node) => part(node.spent.gpu, parentGpu(tree, node, null)),
      cell: (node) => share(node.spent.gpu, parentGpu(tree, node, null)),
    },
    {
      id: 'own',
      title: 'Own',
      width: 78,
      about: { title: `${timeName} time of the module without those below it` },
      value: (node) => node.own,
      cell: (node) => (node.group ? '' : ns(node.own)),
      tip: (node) => ({ rows: [['own', nsExact(node.own)]] }),
    },
    {
      id: 'cpu',
      title: 'CPU time',
      width: 80,
      about: { title: 'Time on the host in calls of the module; replayed calls have none' },
      value: (node) => node.spent.cpu,
      cell: (node) => ns(node.spent.cpu),
      tip: (node) => ({ rows: [['CPU time', nsExact(node.spent.cpu)]] }),
    },
    ...(hasKernels(tree) ? [kernelsColumn()] : []),
    {
      id: 'calls',
      title: 'Calls',
      width: 54,
      about: { title: 'Calls of the module; of a row of several: of all of them' },
      value: (node) => node.spent.calls,
      cell: (node) => count(node.spent.calls),
    },
  ];
}

function evidenceText(node: TreeNode): string {
  const classes = evidenceClasses(node.evidenceBelow);
  const first = classes[0]?.[0];
  if (first === undefined) return '';
  return classes.length === 1 ? words(first).replace(/ (correlation|alignment)$/, '') : `${classes.length} kinds`;
}

function sumOf(node: TreeNode): number {
  return Object.values(node.evidenceBelow).reduce((sum, value) => sum + value, 0);
}

function evidenceColumns({ run }: ColumnOptions): readonly TreeColumn[] {
  return [
    {
      id: 'evidence',
      title: 'Evidence',
      width: 108,
      about: { title: 'How the time of the module and of those below it was given to them' },
      value: (node) => node.evidenceBelow.launch_correlation ?? 0,
      cell: (node) =>
        sumOf(node) > 0 && (
          <span class="evidence-cell">
            <EvidenceBar map={node.evidenceBelow} total={sumOf(node)} />
            <span>{evidenceText(node)}</span>
          </span>
        ),
      tip: (node) => ({
        title: 'Evidence',
        rows: evidenceClasses(node.evidenceBelow).map(([name, value]) => [words(name), `${share(value, sumOf(node))} · ${ns(value)}`]),
      }),
    },
    {
      id: 'mode',
      title: 'Mode',
      width: 92,
      about: {
        title: 'eager: launched by the host one by one. graph: replayed by a graph, and its share. compiled: made by torch.compile.',
      },
      value: (node) => launchMode(node, run).word,
      cell: (node) => {
        const mode = launchMode(node, run);
        return mode.word === '' ? '' : <span class={`mode mode-${mode.kind}`}>{mode.word}</span>;
      },
      tip: (node) => ({ title: launchMode(node, run).says }),
    },
  ];
}

function comparedColumns({ tree, metric, timeName }: ColumnOptions): readonly TreeColumn[] {
  return tree.columns.map((column, i) => {
    const spent = (node: TreeNode): Spent | null => node.compared[i] ?? null;
    return {
      id: `col.${column.key}`,
      title: column.title,
      subtitle: column.subtitle,
      width: 118,
      about: { title: `${column.title}: ${METRIC_NAMES[metric] ?? `${timeName} time`} of each module`, rows: column.about },
      selects: column.selects,
      value: (node) => spent(node)?.[metric] ?? null,
      cell: (node) => {
        const value = spent(node)?.[metric] ?? null;
        return <HotCell text={metricText(metric, value)} portion={part(value, parentOf(tree, node, i, metric))} />;
      },
      tip: (node) => ({
        title: `${column.title} · ${column.subtitle}`,
        rows: [
          [`${timeName} time`, nsExact(spent(node)?.gpu)],
          ['of parent', share(spent(node)?.gpu, parentGpu(tree, node, i))],
          ['CPU time', nsExact(spent(node)?.cpu)],
          ...(hasKernels(tree) ? ([['kernels', count(spent(node)?.kernels)]] as const) : []),
          ['calls', count(spent(node)?.calls)],
        ],
      }),
    };
  });
}

/** Columns behind the name, left to right. */
export function treeColumns(options: ColumnOptions): readonly TreeColumn[] {
  return [
    gpuColumn(options),
    ...plainColumns(options),
    ...(options.hasEvidence ? evidenceColumns(options) : []),
    ...comparedColumns(options),
  ];
}
