import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AnalysisPart, KernelRow, KernelsData } from '../data/analyses';
import { EvidenceBar, evidenceClasses } from '../frame/evidence';
import { type Loaded, useAnalysis, useDocument } from '../state/answers';
import { openTab, param, selection, setParam, source } from '../state/state';
import { count, counted, ns, nsExact, share } from '../ui/format';
import { NameText } from '../ui/name_text';
import { categoryColor, words } from '../ui/palette';
import { EmptyState, WhenLoaded } from '../ui/states';
import { type Column, DataTable } from '../ui/table';
import { tipProps } from '../ui/tooltip';
import { useMedia } from '../ui/use_media';
import { visibleText } from '../ui/visible_text';
import { type KernelTime, kernelsOfMap, kernelsOfRun } from './kernels_of_map';

/** As many rows as a report holds of the whole run. */
const RUN_ROWS = 200;

const SCOPES = ['module', 'layer', 'run'] as const;
type Scope = (typeof SCOPES)[number];

interface Listed {
  readonly kernels: readonly KernelTime[];
  /** Time of all kernels of the scope, listed or not. */
  readonly total: number | null;
  readonly note: string;
}

function timeOf(row: KernelRow): KernelTime {
  return {
    name: row.name ?? row.key,
    shortName: row.short_name,
    category: row.category,
    n: row.n,
    sum: row.sum_ns,
    evidence: row.evidence ?? null,
    dims: row.dims ?? null,
  };
}

function listedOf(data: KernelsData, note: string): Listed {
  return { kernels: (data.rows ?? []).map(timeOf), total: data.total?.sum_ns ?? null, note };
}

function mapLoaded<A, B>(loaded: Loaded<A>, change: (value: A) => B): Loaded<B> {
  return loaded.state === 'ready' ? { state: 'ready', value: change(loaded.value) } : loaded;
}

/** Very long names end with an ellipsis in the document of `map`. */
function shortNamesOf(rows: readonly KernelRow[]): (name: string) => string | null {
  const known = new Map(rows.flatMap((row) => (row.name !== null && row.short_name !== null ? [[row.name, row.short_name] as const] : [])));
  return (name) => {
    if (!name.endsWith('…')) return known.get(name) ?? null;
    const begin = name.slice(0, -1);
    const alike = new Set([...known].filter(([whole]) => whole.startsWith(begin)).map(([, short]) => short));
    return alike.size === 1 ? ([...alike][0] ?? null) : null;
  };
}

/** The document of `map` has whole names alone. */
function useShortNames(wanted: boolean): (name: string) => string | null {
  const run = useAnalysis('kernels', wanted ? { n: RUN_ROWS } : null);
  return useMemo(() => {
    const rows = run.state === 'ready' ? (run.value.data.rows ?? []) : [];
    return shortNamesOf(rows);
  }, [run]);
}

/** From the server by module; in a report from the document of `map`. */
function useModuleKernels(path: string | null): Loaded<Listed> {
  const live = source.value?.index.live ?? false;
  const asked = useAnalysis('kernels', live && path !== null ? { module: path, n: RUN_ROWS } : null);
  const map = useDocument('map', !live && path !== null);
  const shortNames = useShortNames(!live);
  return useMemo((): Loaded<Listed> => {
    if (live) return mapLoaded(asked, (part) => listedOf(part.data, 'All calls in the trace'));
    if (path === null || map === null) return { state: 'error', error: NOT_HELD };
    if (map.state !== 'ready') return map;
    const found = kernelsOfMap(map.value, path);
    if (found === null) return { state: 'error', error: NOT_HELD };
    const total = found.kernels.reduce((sum, kernel) => sum + kernel.sum, 0);
    const note = found.modules > 1 ? `All ${found.modules} modules like it together` : 'All calls in the trace';
    const kernels = found.kernels.map((kernel) => ({ ...kernel, shortName: shortNames(kernel.name) }));
    return { state: 'ready', value: { kernels, total, note } };
  }, [live, path, asked, map, shortNames]);
}

/** From the trace; where only documents are open, from that of `map`. */
function useRunKernels(wanted: boolean): Loaded<Listed> {
  const fromTrace = source.value?.index.analyses.includes('kernels') ?? false;
  const asked = useAnalysis('kernels', wanted && fromTrace ? { n: RUN_ROWS } : null);
  const map = useDocument('map', wanted && !fromTrace);
  return useMemo((): Loaded<Listed> => {
    if (fromTrace) return mapLoaded(asked, (part) => listedOf(part.data, 'The largest of the run'));
    if (map === null) return { state: 'error', error: NOT_HELD };
    return mapLoaded(map, (document) => {
      const kernels = kernelsOfRun(document);
      return { kernels, total: kernels.reduce((sum, kernel) => sum + kernel.sum, 0), note: 'All of the run' };
    });
  }, [fromTrace, asked, map]);
}

const NOT_HELD = {
  code: 'not_in_report',
  message: 'The kernels of this module are not in what is open.',
  hint: 'Open the trace itself: layerscope view TRACE',
};

function useScope(pass: number | null): { scope: Scope; scopes: readonly Scope[] } {
  const { module, layer } = selection.value;
  const scopes = SCOPES.filter((scope) => scope === 'run' || (scope === 'module' ? module !== null : layer !== null && pass !== null));
  const wanted = param('prof.kernels');
  return { scope: scopes.find((scope) => scope === wanted) ?? scopes[0] ?? 'run', scopes };
}

const COLUMNS_BEFORE: readonly Column<KernelTime>[] = [
  {
    id: 'kernel',
    title: 'Kernel',
    value: (row) => row.name,
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
        <NameText text={row.shortName ?? row.name} tip={false} limit={110} />
      </span>
    ),
  },
  {
    id: 'category',
    title: 'Category',
    width: '106px',
    value: (row) => row.category,
    show: (row) => (
      <span class="category">
        <span class="swatch" style={{ background: categoryColor(row.category) }} />
        <NameText text={words(row.category ?? 'other')} tip={false} />
      </span>
    ),
  },
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

function kernelColumns(listed: Listed): readonly Column<KernelTime>[] {
  const withEvidence = listed.kernels.some((kernel) => kernel.evidence !== null && Object.keys(kernel.evidence).length > 0);
  return [
    ...COLUMNS_BEFORE,
    {
      id: 'share',
      title: 'Share',
      width: '66px',
      align: 'right',
      value: (row) => (listed.total === null || listed.total === 0 ? null : row.sum / listed.total),
      show: (row) => share(row.sum, listed.total),
    },
    ...(withEvidence ? [EVIDENCE_COLUMN] : []),
  ];
}

const EVIDENCE_COLUMN: Column<KernelTime> = {
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

function KernelTable({ listed }: { listed: Listed }): JSX.Element {
  const columns = useMemo(() => kernelColumns(listed), [listed]);
  const rows = listed.kernels;
  // One name may stand in several rows (each kernel of a layer), so a row's place is its key.
  const keys = useMemo(() => new Map(rows.map((row, at) => [row, at])), [rows]);
  if (rows.length === 0) {
    return (
      <EmptyState title="No kernels here">
        <p>Nothing ran on the GPU for what is selected.</p>
      </EmptyState>
    );
  }
  return (
    <DataTable
      label="Kernels"
      columns={columns}
      rows={rows}
      rowKey={(row) => keys.get(row) ?? row.name}
      csvName="kernels.csv"
      height="330px"
      caption={`${listed.note} · ${counted(rows.length, 'row')} · ${ns(listed.total)} in all`}
    />
  );
}

function ScopeChooser({ scope, scopes }: { scope: Scope; scopes: readonly Scope[] }): JSX.Element | null {
  if (scopes.length < 2) return null;
  const titles: Readonly<Record<Scope, string>> = { module: 'Module', layer: 'Layer', run: 'Run' };
  return (
    <div class="segments" role="group" aria-label="Kernels of">
      {scopes.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === scope}
          onClick={() => {
            setParam('prof.kernels', one === scopes[0] ? null : one);
          }}
        >
          {titles[one]}
        </button>
      ))}
    </div>
  );
}

function titleOf(scope: Scope, pass: number | null, what: string): { prefix: string; name: string } {
  const { module, layer } = selection.value;
  if (scope === 'module') return { prefix: `${what} of`, name: module ?? '' };
  if (scope === 'layer') return { prefix: `${what} of layer ${count(layer)}`, name: pass === null ? '' : `in pass ${pass}` };
  return { prefix: `${what} of the run`, name: '' };
}

/** The kernels of what is selected: a module, a layer of the shown pass, or the run. */
export function KernelsPanel({ layers, cpuOnly }: { layers: Loaded<AnalysisPart<'layers'>>; cpuOnly: boolean }): JSX.Element {
  const pass = layers.state === 'ready' ? (layers.value.data.pass ?? null) : null;
  const { scope, scopes } = useScope(pass);
  const { module, layer } = selection.value;
  const ofModule = useModuleKernels(scope === 'module' ? module : null);
  const ofLayer = useAnalysis('kernels', scope === 'layer' && layer !== null && pass !== null ? { layer, pass } : null);
  const ofRun = useRunKernels(scope === 'run');
  const listed = useMemo(
    (): Loaded<Listed> =>
      scope === 'module'
        ? ofModule
        : scope === 'layer'
          ? mapLoaded(ofLayer, (part) => listedOf(part.data, 'In the order of its time'))
          : ofRun,
    [scope, ofModule, ofLayer, ofRun],
  );
  // Without a GPU the rows are operators on the host.
  const roomy = useMedia('(min-width: 1800px)');
  const title = titleOf(scope, pass, cpuOnly ? 'Operators' : 'Kernels');
  return (
    <section class="panel" aria-label="Kernels">
      <div class="panel-head">
        <h2 class="panel-title">
          {title.prefix} <NameText text={title.name} limit={roomy ? 120 : 40} />
        </h2>
        <div class="tools">
          {module !== null && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                openTab('architecture');
              }}
            >
              Show in Architecture
            </button>
          )}
          <ScopeChooser scope={scope} scopes={scopes} />
        </div>
      </div>
      <div class="panel-body flush">
        <WhenLoaded of={listed} label="Reading the kernels…">
          {(value) => <KernelTable listed={value} />}
        </WhenLoaded>
      </div>
    </section>
  );
}
