import type { JSX } from 'preact';
import { ns, share } from '../ui/format';
import { HeatScale } from '../ui/heat_scale';
import { NameText } from '../ui/name_text';
import { categoryColor } from '../ui/palette';
import type { ShortNames } from '../ui/short_names';
import { EvidenceDot } from './evidence_mark';
import { heaviestOp, timeIn } from './flow';
import type { ArchModel, ArchNode, Metric } from './model';
import { timeOf } from './model';
import { TimeBar } from './time_bar';
import { TypeChip } from './type_chip';

/** What all blocks of a flow are drawn with. */
export interface FlowContext {
  readonly model: ArchModel;
  readonly metric: Metric;
  /** Place in the fold of the layer that is shown alone; null: all layers. */
  readonly member: number | null;
  /** Time of all that is in view: what bars and shares are of. */
  readonly whole: number | null;
  readonly names: ShortNames;
}

/** The type of the layers that a fold stands for. */
export function typeOfFold(model: ArchModel, node: ArchNode): string | null {
  if (node.repeat === 1 || model.layerTypes.length < 2) return null;
  return model.typeOfFold.get(node) ?? null;
}

/** A share of GPU time that replays of CUDA graphs took: no host code ran for it. */
function replayedShare(node: ArchNode): number {
  const replayed = ['graph_node', 'capture_alignment', 'eager_alignment'].reduce((sum, key) => sum + (node.evidence[key] ?? 0), 0);
  const all = Object.values(node.evidence).reduce((sum, value) => sum + value, 0);
  return all > 0 ? replayed / all : 0;
}

export function ModeBadges({ node }: { node: ArchNode }): JSX.Element {
  const part = replayedShare(node);
  return (
    <>
      {node.compiled && <span class="arch-badge compiled">compiled</span>}
      {part > 0 && <span class="arch-badge">graph {share(part, 1)}</span>}
    </>
  );
}

function SecondLine({ node, context }: { node: ArchNode; context: FlowContext }): JSX.Element | null {
  const op = heaviestOp(node, context.metric);
  if (op === null) return node.note === null ? null : <span class="arch-quiet">{node.note}</span>;
  const kernel = node.kind === 'op' ? node.kernelName : null;
  return (
    <>
      {op.dims !== null && (
        <span class="arch-dims">
          <NameText text={op.dims} limit={90} tip={false} />
        </span>
      )}
      {kernel !== null && (
        <span class="arch-kernel-name">
          <span class="arch-swatch" style={{ background: categoryColor(node.role) }} aria-hidden="true" />
          <NameText text={context.names.of(kernel)} limit={48} tip={false} />
        </span>
      )}
      {kernel === null && node.kind === 'op' && node.note !== null && <span class="arch-quiet">{node.note}</span>}
    </>
  );
}

/** Name, shapes, bar and times of a module or an op: the inside of a block of a flow. */
export function BlockFace({ node, context }: { node: ArchNode; context: FlowContext }): JSX.Element {
  const { metric, member, model } = context;
  const time = timeIn(node, metric, member);
  const other = metric === 'gpu' ? 'cpu' : 'gpu';
  const parent = node.parent === null ? context.whole : timeIn(node.parent, metric, member);
  const type = typeOfFold(model, node);
  return (
    <span class="arch-face">
      <span class="arch-face-name">
        <span class="arch-face-title">
          {type !== null && <TypeChip model={model} type={type} />}
          <strong>
            <NameText text={node.title} limit={64} tip={false} />
          </strong>
          {node.repeat > 1 && <span class="arch-times">×{node.repeat}</span>}
          {node.compiled && <span class="arch-badge compiled">compiled</span>}
        </span>
        <span class="arch-face-more">
          <SecondLine node={node} context={context} />
        </span>
      </span>
      <TimeBar part={time} whole={context.whole} parent={parent} />
      <span class="arch-num arch-main">{ns(time)}</span>
      <span class="arch-num">{share(time, context.whole)}</span>
      <span class="arch-num arch-quiet arch-other">{ns(member === null ? timeOf(node, other) : timeIn(node, other, member))}</span>
      <EvidenceDot evidence={node.evidence} />
    </span>
  );
}

/** What the columns of the blocks are. */
export function FlowHead({ context }: { context: FlowContext }): JSX.Element {
  const { model, metric } = context;
  const gpu = model.cpuOnly ? 'CPU self' : 'GPU time';
  return (
    <div class="arch-flow-head" aria-hidden="true">
      <span class="arch-face">
        <span>Module or op, shapes of its heaviest op</span>
        <HeatScale of="" />
        <span class="arch-num">{metric === 'gpu' ? gpu : 'CPU time'}</span>
        <span class="arch-num">share</span>
        <span class="arch-num">{metric === 'gpu' ? 'CPU time' : gpu}</span>
        <span title="The letter of the evidence with the most time: how kernels got their module">Ev.</span>
      </span>
    </div>
  );
}
