import { batch } from '@preact/signals';
import type { JSX } from 'preact';
import { select, openTab } from '../state/state';
import { count, ns, nsExact, share } from '../ui/format';
import { NameText } from '../ui/name_text';
import { words } from '../ui/palette';
import { tipProps } from '../ui/tooltip';
import { visibleText } from '../ui/visible_text';
import type { FlowContext } from './block';
import { ModeBadges } from './block';
import { pathIn } from './document';
import { EvidenceBar } from './evidence_mark';
import { timeIn } from './flow';
import { KernelChainView } from './kernel_chain';
import type { ArchModel, ArchNode, Layer } from './model';
import { foldOf } from './model';
import { spreadOf } from './statistics';
import { CompositionBar, TimeBar } from './time_bar';
import { TypeChip } from './type_chip';

type Fact = readonly [label: string, value: string, exact?: string];

function timeFact(label: string, value: number | null): Fact[] {
  return value === null ? [] : [[label, ns(value), nsExact(value)]];
}

function memberOf(node: ArchNode, layer: Layer | null): number | null {
  return layer === null || foldOf(node) !== layer.fold ? null : layer.member;
}

/** What is asked first: how much, of what, in how many pieces. */
function mainFacts(model: ArchModel, node: ArchNode, layer: Layer | null): Fact[] {
  const member = memberOf(node, layer);
  const gpu = timeIn(node, 'gpu', member);
  const facts: Fact[] = [...timeFact(model.cpuOnly ? 'CPU self time' : 'GPU time', gpu)];
  if (gpu !== null && model.totalGpuNs !== null) facts.push(['share of the whole', share(gpu, model.totalGpuNs)]);
  facts.push(...timeFact('CPU time', timeIn(node, 'cpu', member)));
  if (member === null && node.kernels !== null) facts.push(['kernels', count(node.kernels)]);
  if (member === null && node.calls !== null) facts.push(['calls', count(node.calls)]);
  return facts;
}

function moreFacts(node: ArchNode, layer: Layer | null): Fact[] {
  const facts: Fact[] = [];
  if (memberOf(node, layer) === null) {
    facts.push(...timeFact(node.kind === 'op' ? 'in its own kernels' : 'in its own ops', node.ownNs));
    facts.push(...timeFact('busy', node.busyNs));
  }
  if (node.passes !== null) {
    const { n, avgNs, minNs, maxNs } = node.passes;
    facts.push(['mean per forward', ns(avgNs), `of ${count(n)} forwards: ${nsExact(avgNs)}`], ['min – max', `${ns(minNs)} – ${ns(maxNs)}`]);
  }
  const spread = node.layers?.gpu == null ? null : spreadOf(node.layers.gpu);
  if (spread !== null) {
    const { n, avgNs, minNs, maxNs } = spread;
    facts.push(['mean per layer', ns(avgNs), `of ${count(n)} layers: ${nsExact(avgNs)}`], ['min – max', `${ns(minNs)} – ${ns(maxNs)}`]);
  }
  return facts;
}

function Facts({ facts }: { facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="arch-facts">
      {facts.map(([label, value, exact], at) => (
        <div key={at} {...(exact === undefined ? {} : tipProps(() => ({ title: exact })))}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Ranks({ model, node }: { model: ArchModel; node: ArchNode }): JSX.Element | null {
  const values = node.rankGpu;
  if (values === null || values.length < 2) return null;
  const max = Math.max(...values.map((value) => value ?? 0));
  return (
    <section>
      <h3>Ranks</h3>
      <ul class="arch-ranks">
        {values.slice(0, 64).map((value, at) => (
          <li key={at}>
            <span>rank {model.ranks[at]?.rank ?? at}</span>
            <TimeBar part={value} whole={max} parent={max} />
            <span class="arch-num">{ns(value)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ArgsTable({ node }: { node: ArchNode }): JSX.Element | null {
  if (node.args.length === 0) {
    if (node.dims === null) return null;
    return (
      <p class="arch-dims">
        <NameText text={node.dims} limit={300} />
      </p>
    );
  }
  return (
    <table class="arch-args">
      <thead>
        <tr>
          <th scope="col">input</th>
          <th scope="col">shape</th>
          <th scope="col">dtype</th>
        </tr>
      </thead>
      <tbody>
        {node.args.slice(0, 24).map((arg, at) => (
          <tr key={at}>
            <td>
              <NameText text={arg.name === '' ? `in${at}` : arg.name} limit={30} />
            </td>
            <td class="mono">{arg.shape === null ? '–' : <NameText text={`[${arg.shape.map(String).join(', ')}]`} limit={60} />}</td>
            <td>{arg.dtype === null ? '–' : <NameText text={arg.dtype} limit={30} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The whole model: what it is, and what of its time lies where. */
export function ModelCard({ model }: { model: ArchModel }): JSX.Element {
  // What no module has belongs to the whole too: the shares are those that the badge of the page shows.
  const rest = model.unattributedNs ?? 0;
  const evidence = rest > 0 ? { ...model.root.evidence, unresolved: rest } : model.root.evidence;
  const facts: Fact[] = [
    ...model.facts.map((fact): Fact => [fact.label, visibleText(fact.value)]),
    ...timeFact(model.cpuOnly ? 'CPU self time' : 'GPU time', model.totalGpuNs),
    ...timeFact('in no module', model.unattributedNs),
    ...timeFact('in no op', model.withoutOpNs === 0 ? null : model.withoutOpNs),
    ...timeFact('CPU time', model.totalCpuNs),
  ];
  return (
    <aside class="arch-inspector" aria-label="Details" tabIndex={0}>
      <header>
        <span class="arch-chain-kind">model</span>
        <h2>
          <NameText text={model.title} limit={80} />
        </h2>
      </header>
      <Facts facts={facts} />
      {model.layers.length > 0 && (
        <section>
          <h3>Layer types</h3>
          <ul class="arch-types">
            {model.layerTypes.slice(0, 12).map((type) => {
              const layers = model.layers.filter((layer) => layer.type === type);
              return (
                <li key={type}>
                  <TypeChip model={model} type={type} />
                  <NameText text={layers[0]?.title ?? 'no module'} limit={40} />
                  <span class="arch-quiet">×{layers.length}</span>
                </li>
              );
            })}
          </ul>
          {model.layerSource !== null && <p class="arch-quiet">known from {visibleText(words(model.layerSource))}</p>}
        </section>
      )}
      {Object.keys(evidence).length > 0 && (
        <section>
          <h3>How GPU time got its module</h3>
          <EvidenceBar evidence={evidence} />
        </section>
      )}
      <p class="arch-hint">Point at a block for its shapes and kernels. Enter or a click goes in, Esc goes back.</p>
    </aside>
  );
}

interface InspectorProps {
  readonly node: ArchNode;
  readonly layer: Layer | null;
  readonly context: FlowContext;
}

/** Everything the document says of what is pointed at. */
export function Inspector({ node, layer, context }: InspectorProps): JSX.Element {
  const { model, metric, names } = context;
  const path = pathIn(node, layer);
  const within = layer !== null && foldOf(node) === layer.fold ? layer : null;
  return (
    <aside class="arch-inspector" aria-label="Details" tabIndex={0}>
      <header>
        <span class="arch-chain-kind">{node.kind === 'op' ? 'op' : node.repeat > 1 ? `module ×${node.repeat}` : node.kind === 'group' ? 'ops outside of modules' : 'module'}</span>
        <h2>
          <NameText text={node.title} limit={80} />
        </h2>
        <p class="arch-badges">
          {within !== null && <span class="arch-badge">layer {within.index}</span>}
          <ModeBadges node={node} />
        </p>
        {path !== null && (
          <p class="arch-path">
            <NameText text={path} limit={180} />
          </p>
        )}
      </header>
      <Facts facts={mainFacts(model, node, layer)} />
      {node.kind === 'module' && (
        <section>
          <CompositionBar node={node} metric={metric} member={within?.member ?? null} />
        </section>
      )}
      <KernelChainView node={node} metric={metric} names={names} />
      {(node.args.length > 0 || node.dims !== null) && (
        <section>
          <h3>Inputs</h3>
          <ArgsTable node={node} />
        </section>
      )}
      <section>
        <h3>More</h3>
        <Facts facts={moreFacts(node, layer)} />
      </section>
      {Object.keys(node.evidence).length > 0 && (
        <section>
          <h3>Evidence</h3>
          <EvidenceBar evidence={node.evidence} />
        </section>
      )}
      <Ranks model={model} node={node} />
      {path !== null && node.kind !== 'group' && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            batch(() => {
              select({ module: path });
              openTab('profiler');
            });
          }}
        >
          Show in the Profiler
        </button>
      )}
    </aside>
  );
}
