import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AnalysisPart } from '../data/analyses';
import type { ModelExecution, PerRequestProfiles } from '../data/documents';
import { type Loaded, useAnalysis, useDocument } from '../state/answers';
import { param, selection, setParam, source } from '../state/state';
import { NameText } from '../ui/name_text';
import { AbstainedState, EmptyState, WhenLoaded } from '../ui/states';
import { fromMap, mapTotal } from './from_map';
import { fromRequests, requestColumns } from './from_requests';
import { KernelsPanel } from './kernels_panel';
import { type RunMode, UNKNOWN_MODE } from './launch_mode';
import { type LayerPaths, NO_LAYER_PATHS, layerPathsOf, layersInTree } from './layer_paths';
import { LayersPanel } from './layers_panel';
import { buildTree } from './module_tree';
import './profiler.css';
import { RequestLayersPanel } from './request_layers_panel';
import { TreePanel } from './tree_panel';
import { type TraceTree, useTraceTree } from './use_trace_tree';

const FROM = ['trace', 'requests', 'map'] as const;
type From = (typeof FROM)[number];
const FROM_TITLES: Readonly<Record<From, string>> = { trace: 'Trace', requests: 'Requests', map: 'Map' };

function nothing(): undefined {
  return undefined;
}

function isGrouped(): boolean {
  return param('prof.flat') === null;
}

/** Where the figures come from: the trace first; the map only where there is nothing else. */
function availableFrom(): readonly From[] {
  const index = source.value?.index;
  const trace = index?.analyses.includes('modules') ?? false;
  const requests = index?.documents.includes('requests') ?? false;
  const map = index?.documents.includes('map') ?? false;
  return FROM.filter((from) => (from === 'trace' ? trace : from === 'requests' ? requests : map && !trace));
}

function FromChooser({ from, all }: { from: From; all: readonly From[] }): JSX.Element | null {
  if (all.length < 2) return null;
  return (
    <div class="segments" role="group" aria-label="Figures from">
      {all.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === from}
          onClick={() => {
            setParam('prof.from', name === all[0] ? null : name);
          }}
        >
          {FROM_TITLES[name]}
        </button>
      ))}
    </div>
  );
}

function NoModules({ part }: { part: AnalysisPart<'modules'> }): JSX.Element {
  const { data, envelope } = part;
  if (data.abstained !== undefined) return <AbstainedState abstained={data.abstained} title="No modules to show" />;
  const said = envelope.health.filter((entry) => /module|scope|graph/.test(entry.code));
  return (
    <EmptyState title="This trace does not say which module ran what">
      {said.length === 0 ? (
        <p>
          Record it with stacks: torch.profiler with_stack=True; vLLM: torch_profiler_with_stack in --profiler-config; SGLang:
          with_stack of /start_profile.
        </p>
      ) : (
        said.map((entry) => (
          <p key={entry.code}>
            <NameText text={entry.message} limit={1500} tip={false} class="wrap" />
          </p>
        ))
      )}
    </EmptyState>
  );
}

interface Side {
  readonly layers: Loaded<AnalysisPart<'layers'>>;
  readonly tools: ComponentChildren;
}

function Columns({ tree, side }: { tree: ComponentChildren; side: ComponentChildren }): JSX.Element {
  return (
    <div class="profiler">
      {tree}
      <div class="profiler-side">{side}</div>
    </div>
  );
}

function TraceView({ value, layers, tools }: Side & { value: TraceTree }): JSX.Element {
  const { modules, columns, part } = value;
  const summary = useAnalysis('summary');
  const hidden = summary.state === 'ready' ? (summary.value.data.replays?.hidden_ns ?? 0) : 0;
  const grouped = isGrouped();
  const total = part.data.total?.gpu_ns ?? part.coverage?.total_ns ?? 0;
  const tree = useMemo(() => buildTree(modules, columns, total, grouped), [modules, columns, total, grouped]);
  const run = useMemo(
    (): RunMode => ({ regions: part.data.compiled_regions ?? [], hiddenNs: hidden }),
    [part, hidden],
  );
  const paths = useMemo(
    () => (layers.state === 'ready' ? layersInTree(tree, layers.value.data) : NO_LAYER_PATHS),
    [tree, layers],
  );
  const cpuOnly = summary.state === 'ready' && summary.value.data.gpu?.cpu_only === true;
  return (
    <Columns
      tree={
        modules.length === 0 ? (
          <section class="panel">
            <NoModules part={part} />
          </section>
        ) : (
          <TreePanel
            tree={tree}
            run={run}
            timeName={cpuOnly ? 'Op' : 'GPU'}
            hasEvidence
            paths={paths}
            loadBelow={value.loadBelow}
            isCut={value.isCut}
            grouped={grouped}
            tools={tools}
          />
        )
      }
      side={
        <>
          <LayersPanel layers={layers} paths={paths} />
          <KernelsPanel layers={layers} cpuOnly={cpuOnly} />
        </>
      }
    />
  );
}

function TraceProfiler({ tools }: { tools: ComponentChildren }): JSX.Element {
  const tree = useTraceTree();
  const layers = useAnalysis('layers');
  return (
    <WhenLoaded of={tree} label="Reading the modules…">
      {(value) => <TraceView value={value} layers={layers} tools={tools} />}
    </WhenLoaded>
  );
}

/** The request whose figures stand first: the chosen one, else the typical one. */
function mainRequest(document: PerRequestProfiles): number {
  const chosen = selection.value.request;
  if (chosen !== null && chosen < document.requests.length) return chosen;
  return document.requests.find((request) => request.label === 'Typical')?.index ?? 0;
}

function requestPaths(document: PerRequestProfiles): LayerPaths {
  const paths: (string | null)[] = [];
  for (const layer of document.layers) paths[layer.index] = layer.path;
  return layerPathsOf(Array.from(paths, (path) => path ?? null));
}

function RequestsView({ document, tools }: { document: PerRequestProfiles; tools: ComponentChildren }): JSX.Element {
  const main = mainRequest(document);
  const grouped = isGrouped();
  const tree = useMemo(
    () => buildTree(fromRequests(document, main), requestColumns(document), document.requests[main]?.gpu_ns ?? 0, grouped),
    [document, main, grouped],
  );
  const paths = useMemo(() => requestPaths(document), [document]);
  return (
    <Columns
      tree={
        <TreePanel
          tree={tree}
          run={UNKNOWN_MODE}
          timeName={document.requests.every((request) => request.cpu_only) ? 'Op' : 'GPU'}
          mainTitle={tree.columns[main]?.title ?? ''}
          hasEvidence
          paths={paths}
          loadBelow={nothing}
          grouped={grouped}
          tools={tools}
        />
      }
      side={<RequestLayersPanel document={document} main={main} paths={paths} />}
    />
  );
}

function MapView({ document, tools }: { document: ModelExecution; tools: ComponentChildren }): JSX.Element {
  const grouped = isGrouped();
  const modules = useMemo(() => fromMap(document), [document]);
  const tree = useMemo(() => buildTree(modules, [], mapTotal(document, modules), grouped), [modules, grouped]);
  const layers: Loaded<AnalysisPart<'layers'>> = { state: 'loading' };
  const ours = document.schema_version !== undefined;
  return (
    <Columns
      tree={
        <TreePanel
          tree={tree}
          run={UNKNOWN_MODE}
          timeName={document.device === 'cpu' ? 'Op' : 'GPU'}
          hasEvidence={ours}
          paths={NO_LAYER_PATHS}
          loadBelow={nothing}
          grouped={grouped}
          tools={tools}
        />
      }
      side={<KernelsPanel layers={layers} cpuOnly={document.device === 'cpu'} />}
    />
  );
}

function RequestsProfiler({ tools }: { tools: ComponentChildren }): JSX.Element | null {
  const document = useDocument('requests');
  return document === null ? null : (
    <WhenLoaded of={document} label="Reading the requests…">
      {(value) => <RequestsView document={value} tools={tools} />}
    </WhenLoaded>
  );
}

function MapProfiler({ tools }: { tools: ComponentChildren }): JSX.Element | null {
  const document = useDocument('map');
  return document === null ? null : (
    <WhenLoaded of={document} label="Reading the modules…">
      {(value) => <MapView document={value} tools={tools} />}
    </WhenLoaded>
  );
}

/** Which module and which layer the time went to, over the run, by pass and by request. */
export function ProfilerTab(): JSX.Element {
  const all = availableFrom();
  const from = all.find((name) => name === param('prof.from')) ?? all[0];
  if (from === undefined) {
    return (
      <EmptyState title="No trace is open" command="layerscope view TRACE">
        <p>
          The profiler shows the modules of a trace. It also reads model_execution.json and per_request_profiles.json, dropped on
          this page.
        </p>
      </EmptyState>
    );
  }
  const tools = <FromChooser from={from} all={all} />;
  if (from === 'requests') return <RequestsProfiler tools={tools} />;
  return from === 'map' ? <MapProfiler tools={tools} /> : <TraceProfiler tools={tools} />;
}
