import type { JSX } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { select, selection, tab } from '../state/state';
import { count, ns } from '../ui/format';
import { NameText } from '../ui/name_text';
import { positionsOf, shapeOf, shownOf, viewOf, type Shape, type View } from './derived';
import { FilterBar } from './filter_bar';
import { Kpis } from './kpis';
import { CLASS_MARKS, ClassMark } from './legend';
import type { Workload } from './model';
import { usePalette } from './palette';
import { PercentilePanel } from './percentile_panel';
import { Plots } from './plots';
import { RequestDetail, RequestTools } from './request_detail';
import { RequestTable } from './request_table';
import { RequestsMissing } from './requests_missing';
import { RunsPanel, type MissingRun } from './runs_panel';
import { ServerPanel } from './server_panel';
import { Slowest } from './slowest';
import { Panel } from './panel';
import type { TipRows } from './use_mark_tip';
import {
  inputFilter,
  onlySelected,
  rangesText,
  readRanges,
  setOnlySelected,
  setRanges,
  setTableSort,
  tableSort,
} from './workload_state';
import './page.css';
import './filter.css';
import './plots.css';
import './tables.css';
import './request.css';
import './server.css';

/** Escape takes the selection back, wherever the focus is; a second one lets go of the request. */
function useEscape(hasRanges: boolean): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || tab.peek() !== 'workload') return;
      if (hasRanges) setRanges({});
      else select({ request: null });
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, [hasRanges]);
}

function Sources({ workload }: { readonly workload: Workload }): JSX.Element {
  const name = workload.model.name;
  return (
    <p class="wl-sources">
      {typeof name === 'string' && (
        <strong>
          <NameText text={name} limit={60} />
        </strong>
      )}
      {workload.sources.map((source, i) => (
        <span key={i} class="wl-source">
          <NameText text={source.path} limit={60} />
          <span class="wl-of">{` ${source.kind.replaceAll('_', ' ')}${source.version === null ? '' : ` ${source.version}`}`}</span>
        </span>
      ))}
    </p>
  );
}

/** What a tooltip says of a request. */
function describer(workload: Workload, shape: Shape): { title: (p: number) => string; describe: (p: number) => TipRows } {
  return {
    title: (position) => `Request #${workload.requests[position]?.index ?? position}`,
    describe: (position) => {
      const request = workload.requests[position];
      if (request === undefined) return [];
      return [
        ['Status', CLASS_MARKS[shape.classes[position] ?? 'unknown'].name],
        ['Queue', ns(request.queue_ns)],
        ['TTFT', ns(request.ttft_ns)],
        ['Decode', ns(request.decode_ns)],
        ['End to end', ns(request.e2e_ns)],
        ['Input', count(request.input_tokens)],
        ['Output', count(request.output_tokens)],
      ];
    },
  };
}

interface RequestPartsProps {
  readonly workload: Workload;
  readonly shape: Shape;
  readonly view: View;
  readonly rangesKey: string;
}

/** All that needs single requests: filter, plots, chosen request, table. */
function RequestParts({ workload, shape, view, rangesKey }: RequestPartsProps): JSX.Element {
  const { requests } = workload;
  const palette = usePalette();
  const ranges = useMemo(() => readRanges(rangesKey), [rangesKey]);
  const shownPositions = useMemo(() => positionsOf(view.shown), [view.shown]);
  const tips = useMemo(() => describer(workload, shape), [workload, shape]);
  const index = selection.value.request;
  const chosen = index === null ? null : (shape.positionOf.get(index) ?? null);
  const request = chosen === null ? undefined : requests[chosen];
  const choose = (position: number | null): void => {
    select({ request: position === null ? null : (requests[position]?.index ?? null) });
  };
  const step = (by: number): void => {
    if (chosen !== null) choose(Math.max(0, Math.min(requests.length - 1, chosen + by)));
  };
  return (
    <>
      <FilterBar shape={shape} view={view} total={requests.length} ranges={ranges} workload={workload} />
      <Plots workload={workload} shape={shape} view={view} ranges={ranges} chosen={chosen} palette={palette} tips={tips} onChoose={choose} />
      <Panel
        title={request === undefined ? 'Where to look' : `Request #${request.index}`}
        area="request"
        beside={request !== undefined && <ClassMark kind={shape.classes[chosen ?? 0] ?? 'unknown'} />}
        tools={
          request !== undefined && (
            <RequestTools
              request={request}
              onStep={step}
              onClose={() => {
                choose(null);
              }}
            />
          )
        }
      >
        {request === undefined && index !== null && (
          <p class="wl-note" role="status">{`The address names request #${index}, which this document does not have.`}</p>
        )}
        {request === undefined ? (
          <Slowest requests={requests} shown={view.shown} onChoose={choose} />
        ) : (
          <RequestDetail request={request} unlinked={workload.unlinked} />
        )}
      </Panel>
      <Panel title="Requests" area="table" flush>
        <RequestTable
          requests={requests}
          positions={shownPositions}
          classes={shape.classes}
          selected={view.selected}
          only={onlySelected()}
          chosen={chosen}
          sort={tableSort()}
          onSort={setTableSort}
          onOnly={setOnlySelected}
          onChoose={choose}
        />
      </Panel>
    </>
  );
}

/** The whole tab for one document. */
export function WorkloadPage({ workload, missing = null }: { readonly workload: Workload; readonly missing?: MissingRun | null }): JSX.Element {
  const shape = useMemo(() => shapeOf(workload), [workload]);
  const filter = inputFilter();
  const rangesKey = rangesText();
  const shown = useMemo(() => shownOf(workload.requests, filter), [workload, filter?.low, filter?.high]);
  const view = useMemo(() => viewOf(workload.requests, shown, readRanges(rangesKey)), [workload, shown, rangesKey]);
  useEscape(rangesKey !== '');
  const any = workload.requests.length > 0;
  // Without single requests they are what there is to see.
  const runs = workload.runs.length > 1 && <RunsPanel runs={workload.runs} sources={workload.sources} chosen={workload.run} missing={missing} />;
  return (
    <div class={`wl-page${any ? '' : ' wl-page-summary'}`}>
      <header class="wl-head">
        <Kpis workload={workload} />
        <Sources workload={workload} />
      </header>
      {!any && runs}
      {any ? <RequestParts workload={workload} shape={shape} view={view} rangesKey={rangesKey} /> : <RequestsMissing workload={workload} />}
      {any && runs}
      <PercentilePanel workload={workload} view={view} />
      <Panel title="Server metrics" area="server">
        <ServerPanel workload={workload} />
      </Panel>
    </div>
  );
}
