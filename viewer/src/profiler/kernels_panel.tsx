import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AnalysisPart, KernelRow, KernelsData } from '../data/analyses';
import { type Loaded, useAnalysis, useDocument } from '../state/answers';
import { RUN_ROWS, useShortNames } from '../state/short_names';
import { openTab, param, selection, setParam, source } from '../state/state';
import { count, counted, ns } from '../ui/format';
import { NameText } from '../ui/name_text';
import { EmptyState, WhenLoaded } from '../ui/states';
import { DataTable } from '../ui/table';
import { useMedia } from '../ui/use_media';
import { type Listed, kernelColumns } from './kernel_columns';
import { type KernelTime, kernelsOfMap, kernelsOfRun } from './kernels_of_map';

const SCOPES = ['module', 'layer', 'pass', 'run'] as const;
type Scope = (typeof SCOPES)[number];

function timeOf(row: KernelRow): KernelTime {
  return {
    name: row.name ?? row.key,
    shortName: row.short_name,
    category: row.category,
    n: row.n,
    sum: row.sum_ns,
    evidence: row.evidence ?? null,
    dims: row.dims ?? null,
    place: { device: row.device ?? null, rank: row.rank ?? null, pid: row.pid ?? null },
  };
}

function listedOf(data: KernelsData, note: string): Listed {
  return { kernels: (data.rows ?? []).map(timeOf), total: data.total?.sum_ns ?? null, note };
}

function mapLoaded<A, B>(loaded: Loaded<A>, change: (value: A) => B): Loaded<B> {
  return loaded.state === 'ready' ? { state: 'ready', value: change(loaded.value) } : loaded;
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
    const kernels = found.kernels.map((kernel) => ({ ...kernel, shortName: shortNames.given(kernel.name) }));
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
  const live = source.value?.index.live ?? false;
  const chosen = selection.value.pass;
  const passes = useAnalysis('passes', live && chosen !== null ? {} : null);
  const there: Readonly<Record<Scope, boolean>> = {
    module: module !== null,
    layer: layer !== null && pass !== null,
    // A report holds the kernels of the layers of one pass, and of the run.
    pass: passes.state === 'ready' && (passes.value.data.passes ?? []).some(({ index }) => index === chosen),
    run: true,
  };
  const scopes = SCOPES.filter((scope) => there[scope]);
  const wanted = param('prof.kernels');
  return { scope: scopes.find((scope) => scope === wanted) ?? scopes[0] ?? 'run', scopes };
}

function KernelTable({ listed, cpuOnly }: { listed: Listed; cpuOnly: boolean }): JSX.Element {
  const columns = useMemo(() => kernelColumns(listed, cpuOnly), [listed, cpuOnly]);
  const rows = listed.kernels;
  // One name may stand in several rows (each kernel of a layer), so a row's place is its key.
  const keys = useMemo(() => new Map(rows.map((row, at) => [row, at])), [rows]);
  if (rows.length === 0) {
    return (
      <EmptyState title={cpuOnly ? 'No operators here' : 'No kernels here'}>
        <p>{cpuOnly ? 'No operator ran for what is selected.' : 'Nothing ran on the GPU for what is selected.'}</p>
      </EmptyState>
    );
  }
  return (
    <DataTable
      label={cpuOnly ? 'Operators' : 'Kernels'}
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
  const titles: Readonly<Record<Scope, string>> = { module: 'Module', layer: 'Layer', pass: 'Pass', run: 'Run' };
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
  if (scope === 'pass') return { prefix: `${what} of pass ${count(selection.value.pass)}`, name: '' };
  return { prefix: `${what} of the run`, name: '' };
}

/** The kernels of what is selected: a module, a layer of the shown pass, or the run. */
export function KernelsPanel({ layers, cpuOnly }: { layers: Loaded<AnalysisPart<'layers'>>; cpuOnly: boolean }): JSX.Element {
  const pass = layers.state === 'ready' ? (layers.value.data.pass ?? null) : null;
  const { scope, scopes } = useScope(pass);
  const { module, layer } = selection.value;
  const ofModule = useModuleKernels(scope === 'module' ? module : null);
  const ofLayer = useAnalysis('kernels', scope === 'layer' && layer !== null && pass !== null ? { layer, pass } : null);
  const chosen = selection.value.pass;
  const ofPass = useAnalysis('kernels', scope === 'pass' && chosen !== null ? { pass: chosen, n: RUN_ROWS } : null);
  const ofRun = useRunKernels(scope === 'run');
  const listed = useMemo(
    (): Loaded<Listed> =>
      scope === 'module'
        ? ofModule
        : scope === 'layer'
          ? mapLoaded(ofLayer, (part) => listedOf(part.data, 'In the order of its time'))
          : scope === 'pass'
            ? mapLoaded(ofPass, (part) => listedOf(part.data, 'The largest of the pass'))
            : ofRun,
    [scope, ofModule, ofLayer, ofPass, ofRun],
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
        <WhenLoaded of={listed} label={cpuOnly ? 'Reading the operators…' : 'Reading the kernels…'}>
          {(value) => <KernelTable listed={value} cpuOnly={cpuOnly} />}
        </WhenLoaded>
      </div>
    </section>
  );
}
