import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ModelExecution } from '../data/documents';
import { useAnalysis, useDocument } from '../state/answers';
import { useShortNames } from '../state/short_names';
import { selection, source } from '../state/state';
import { NameText } from '../ui/name_text';
import { AbstainedState, EmptyState, WhenLoaded } from '../ui/states';
import type { FlowContext } from './block';
import { findPath, readModel } from './document';
import { FlowView } from './flow_view';
import { openAtFirst, timeIn } from './flow';
import { ArchHeader } from './header';
import { Inspector, ModelCard } from './inspector';
import { LayerRail } from './layer_rail';
import { LayerView } from './layer_view';
import type { ArchModel, ArchNode, Layer, Metric } from './model';
import { foldOf } from './model';
import { chosenMetric, chosenNode, currentWhere, go } from './place';
import { StepView } from './step_view';
import './frame.css';
import './layer_rail.css';
import './flow.css';
import './inspector.css';
import './layer_step.css';
import type { Where } from './view';
import { above, drillInto, layerAt } from './view';

const NONE: ReadonlySet<string> = new Set();

function wholeOf(model: ArchModel, where: Where, metric: Metric, member: number | null): number | null {
  if (where.view === 'vMod' && where.node !== null) return timeIn(where.node, metric, member);
  return metric === 'gpu' ? model.totalGpuNs : model.totalCpuNs;
}

/** A layer from the sidebar: in a module inside of the layers it shows the module there, else the layer itself. */
function chooseLayer(model: ArchModel, where: Where, layer: Layer): void {
  const inside = where.view === 'vMod' && where.node !== null && where.node !== layer.fold && foldOf(where.node) === layer.fold;
  if (!inside) {
    go(model, { view: 'vLayer', node: null, layer: layer.index });
    return;
  }
  go(model, { view: 'vMod', node: where.node.id, layer: where.layer?.index === layer.index ? null : layer.index });
}

/** The same that the Profiler says: why, and how to record it. */
function NoModules(): JSX.Element {
  const has = source.value?.index.analyses.includes('modules') ?? false;
  const live = source.value?.index.live ?? false;
  const loaded = useAnalysis('modules', has ? (live ? { depth: 2 } : {}) : null);
  const abstained = loaded.state === 'ready' ? loaded.value.data.abstained : undefined;
  return abstained === undefined ? (
    <EmptyState title="No module was recorded">
      Nothing in the trace says which module an op or a kernel is of, so there is no model to draw. Record it with stacks
      (torch.profiler: with_stack=True) or with NVTX ranges around modules.
    </EmptyState>
  ) : (
    <AbstainedState abstained={abstained} title="No module was recorded" />
  );
}

/** What the address names and the document does not have. */
function StrayNote({ model }: { model: ArchModel }): JSX.Element | null {
  const { layer, module } = selection.value;
  const node = chosenNode();
  const strays = [
    layer !== null && layerAt(model, layer) === null ? `layer ${layer}` : null,
    node !== null && !model.byId.has(node) ? `place ${node}` : null,
    module !== null && module !== '' && !module.startsWith('[') && findPath(model, module) === null ? `module ${module}` : null,
  ].filter((text) => text !== null);
  if (strays.length === 0) return null;
  return (
    <p class="arch-note" role="note">
      <NameText text={`The address names what this model does not have: ${strays.join(', ')}.`} limit={400} tip={false} class="wrap" />
    </p>
  );
}

function TopNotes({ model }: { model: ArchModel }): JSX.Element {
  return (
    <>
      <StrayNote model={model} />
      {model.noModules && <NoModules />}
      {model.legacy && (
        <p class="arch-note">
          This document has the older keys only: it knows the CPU time of modules, and of each op the first kernel. Bars show CPU time.{' '}
          <code>layerscope map TRACE -o model_execution.json</code> gives GPU time.
        </p>
      )}
      {model.cpuOnly && !model.legacy && <p class="arch-note">A trace without a GPU: times are the self times of ops on the CPU.</p>}
      {model.leftOut > 0 && <p class="arch-note">{model.leftOut} parts are nested too deep to be drawn.</p>}
    </>
  );
}

interface MainProps {
  readonly where: Where;
  readonly context: FlowContext;
  readonly onLook: (node: ArchNode | null) => void;
}

function Main({ where, context, onLook }: MainProps): JSX.Element {
  const { model, metric } = context;
  const drill = (node: ArchNode): void => {
    go(model, drillInto(node, where.layer));
  };
  const onLayer = (layer: Layer): void => {
    go(model, { view: 'vLayer', node: null, layer: layer.index });
  };
  const first = useMemo(() => openAtFirst(model, metric), [model, metric]);
  if (where.view === 'vLayer' && where.layer !== null) {
    return <LayerView layer={where.layer} context={context} onDrill={drill} onLook={onLook} onLayer={onLayer} />;
  }
  if (where.view === 'vStep' && where.node !== null) {
    return <StepView node={where.node} layer={where.layer} context={context} onLayer={onLayer} />;
  }
  if (where.view === 'vMod' && where.node !== null) {
    if (where.node.items.length === 0) {
      return <EmptyState title="Nothing below">The document lists neither modules nor ops in this module.</EmptyState>;
    }
    return (
      <FlowView
        key={where.node.id}
        items={where.node.items}
        context={context}
        label={`Flow inside of ${where.node.title}`}
        open={NONE}
        onDrill={drill}
        onLook={onLook}
      />
    );
  }
  const items = model.found === null ? model.flow : [...model.flow, model.found];
  return (
    <>
      <TopNotes model={model} />
      {items.length === 0 && <EmptyState title="The document is empty">It holds no modules, no ops and no layers.</EmptyState>}
      <FlowView key="top" items={items} context={context} label="Flow of the whole model" open={first} onDrill={drill} onLook={onLook} />
    </>
  );
}

/** The block that was drilled into has the focus again on the way up; on the way down the first one. */
function useFocusOnArrival(where: Where, box: { current: HTMLElement | null }): void {
  const last = useRef<Where | null>(null);
  useLayoutEffect(() => {
    const before = last.current;
    last.current = where;
    // Only a focus that went away with the view before is set anew.
    const at = document.activeElement;
    if (before === null || !(at === document.body || at?.classList.contains('arch-main-pane') === true)) return;
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[data-id],tr[data-block]') ?? [])];
    const from = before.node?.id;
    const target = items.find((item) => from !== undefined && (item.dataset.id ?? item.dataset.block) === from) ?? items[0];
    if (target === undefined) box.current?.querySelector<HTMLElement>('.arch-main-pane')?.focus();
    else target.focus({ preventScroll: items[0] === target });
  }, [where.view, where.node, where.layer]);
}

function Architecture({ model }: { model: ArchModel }): JSX.Element {
  const where = currentWhere(model);
  const metric = chosenMetric(model);
  const names = useShortNames();
  const [looked, setLooked] = useState<ArchNode | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    setLooked(null);
  }, [where.view, where.node, where.layer]);
  useFocusOnArrival(where, box);
  const member = where.layer?.member ?? null;
  const context: FlowContext = useMemo(
    () => ({ model, metric, names, member, whole: wholeOf(model, where, metric, member) }),
    [model, metric, names, member, where.view, where.node],
  );
  const shown = looked ?? where.node ?? where.layer?.fold ?? null;
  return (
    <div
      class="arch"
      ref={box}
      data-view={where.view}
      onKeyDown={(event) => {
        const up = event.key === 'Escape' ? above(model, where) : null;
        if (up === null || event.defaultPrevented) return;
        event.preventDefault();
        go(model, up);
      }}
    >
      <ArchHeader model={model} where={where} metric={metric} />
      <div class={`arch-body ${model.layers.length === 0 ? 'no-rail' : ''}`}>
        <LayerRail
          model={model}
          node={where.view === 'vTop' || where.view === 'vLayer' ? null : where.node}
          metric={metric}
          chosen={where.layer}
          onChoose={(layer) => {
            chooseLayer(model, where, layer);
          }}
        />
        <div class="arch-main-pane" tabIndex={-1}>
          <Main where={where} context={context} onLook={setLooked} />
        </div>
        {shown === null ? <ModelCard model={model} /> : <Inspector node={shown} layer={where.layer} context={context} />}
      </div>
    </div>
  );
}

function Opened({ document }: { document: ModelExecution }): JSX.Element {
  const model = useMemo(() => readModel(document), [document]);
  if (model === null) {
    return (
      <EmptyState title="This is no model_execution.json" kind="error">
        <NameText text="It has no module_tree." tip={false} />
      </EmptyState>
    );
  }
  return <Architecture model={model} />;
}

/** Tab Architecture: the model as it ran, from the whole (vTop) to one op over all layers (vStep). */
export function ArchitectureTab(): JSX.Element {
  const loaded = useDocument('map');
  if (loaded === null) {
    return (
      <EmptyState title="No model is open" command="layerscope map TRACE -o model_execution.json">
        <p>The Architecture tab draws model_execution.json. Write it from a trace and drop it on this page, or open the trace with layerscope view.</p>
      </EmptyState>
    );
  }
  return (
    <WhenLoaded of={loaded} label="Reading the model…">
      {(document) => <Opened document={document} />}
    </WhenLoaded>
  );
}
