import type { Place } from '../data/analyses';
import { EvidenceBar, evidenceClasses } from '../frame/evidence';
import { ns, nsExact, share } from '../ui/format';
import { KernelName } from '../ui/kernel_name';
import { NameText } from '../ui/name_text';
import { categoryColor, words } from '../ui/palette';
import { type DistinctName, distinctNames, distinctText } from '../ui/short_names';
import type { Column } from '../ui/table';
import { tipProps } from '../ui/tooltip';
import { visibleText } from '../ui/visible_text';
import type { KernelTime } from './kernels_of_map';

export interface Listed {
  readonly kernels: readonly KernelTime[];
  /** Time of all kernels of the scope, listed or not. */
  readonly total: number | null;
  readonly note: string;
}

type PlaceKey = keyof Place;

const PLACE_TITLES: Readonly<Record<PlaceKey, string>> = { rank: 'Rank', pid: 'Process', device: 'Device' };

/** One name may stand once for each rank, process or device: then a column says which. */
function placeColumns(kernels: readonly KernelTime[]): readonly Column<KernelTime>[] {
  const keys: readonly PlaceKey[] = ['rank', 'pid', 'device'];
  const several = keys.filter((key) => new Set(kernels.map(({ place }) => place?.[key] ?? null)).size > 1);
  // A rank is one process on one device as a rule.
  const telling = several.includes('rank') ? several.filter((key) => key === 'rank') : several;
  return telling.map((key) => ({
    id: key,
    title: PLACE_TITLES[key],
    width: '64px',
    align: 'right',
    value: (row) => row.place?.[key] ?? null,
    show: (row) => visibleText(String(row.place?.[key] ?? '–')),
  }));
}

function nameColumn(kernels: readonly KernelTime[], title: string): Column<KernelTime> {
  const called = distinctNames(kernels.map(({ name, shortName }) => ({ name, short: shortName ?? name })));
  const nameOf = (row: KernelTime): DistinctName => called.get(row.name) ?? { short: row.name, rest: '' };
  return {
    id: 'kernel',
    title,
    value: (row) => distinctText(nameOf(row)),
    csv: (row) => row.name,
    show: (row) => (
      <span
        class="kernel-name"
        {...tipProps(() => ({
          title: visibleText(row.name),
          rows: [
            ['category', words(row.category ?? 'other')],
            ...(row.dims === null ? [] : [['dims', visibleText(row.dims)] as const]),
          ],
          copy: row.name,
        }))}
      >
        <KernelName name={nameOf(row)} />
      </span>
    ),
  };
}

const FIGURES: readonly Column<KernelTime>[] = [
  { id: 'n', title: 'Count', width: '62px', align: 'right', value: (row) => row.n },
  {
    id: 'sum_ns',
    title: 'Sum',
    width: '78px',
    align: 'right',
    value: (row) => row.sum,
    show: (row) => <span {...tipProps(() => ({ title: nsExact(row.sum) }))}>{ns(row.sum)}</span>,
  },
  {
    id: 'avg_ns',
    title: 'Average',
    width: '78px',
    align: 'right',
    value: (row) => (row.n > 0 ? Math.round(row.sum / row.n) : null),
    show: (row) => ns(row.n > 0 ? row.sum / row.n : null),
  },
];

const CATEGORY: Column<KernelTime> = {
  id: 'category',
  title: 'Category',
  width: '106px',
  value: (row) => row.category,
  show: (row) => (
    <span class="category">
      <span class="swatch" style={{ background: categoryColor(row.category) }} />
      <NameText text={words(row.category ?? 'other')} />
    </span>
  ),
};

const EVIDENCE: Column<KernelTime> = {
  id: 'evidence',
  title: 'Evidence',
  width: '84px',
  value: (row) => evidenceClasses(row.evidence ?? {}).map(([name]) => name).join(' '),
  show: (row) => (
    <span
      class="evidence-cell"
      {...tipProps(() => ({
        title: 'Evidence of its module',
        rows: evidenceClasses(row.evidence ?? {}).map(([name, value]) => [words(name), share(value, row.sum)]),
      }))}
    >
      <EvidenceBar map={row.evidence ?? {}} total={row.sum} />
    </span>
  ),
};

/** Columns of kernels; without a GPU the rows are operators on the host. */
export function kernelColumns({ kernels, total }: Listed, cpuOnly: boolean): readonly Column<KernelTime>[] {
  const withEvidence = kernels.some(({ evidence }) => evidence !== null && Object.keys(evidence).length > 0);
  return [
    nameColumn(kernels, cpuOnly ? 'Operator' : 'Kernel'),
    ...placeColumns(kernels),
    CATEGORY,
    ...FIGURES,
    {
      id: 'share',
      title: 'Share',
      width: '72px',
      align: 'right',
      value: (row) => (total === null || total === 0 ? null : row.sum / total),
      show: (row) => share(row.sum, total),
    },
    ...(withEvidence ? [EVIDENCE] : []),
  ];
}
