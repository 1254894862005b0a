import type { JSX } from 'preact';
import { counted, ns } from '../ui/format';
import { KernelName } from '../ui/kernel_name';
import { NameText } from '../ui/name_text';
import { categoryColor, words } from '../ui/palette';
import { type DistinctName, type ShortNames, distinctNames } from '../ui/short_names';
import { chainOf } from './chain';
import type { ArchNode, Kernel, Metric } from './model';

const UNKNOWN = <span class="arch-unknown">unknown</span>;

function KernelFacts({ kernel }: { kernel: Kernel }): JSX.Element {
  const facts: readonly (readonly [string, string | null])[] = [
    ['grid', kernel.grid],
    ['block', kernel.block],
    ['stream', kernel.device === null || kernel.stream === null ? kernel.stream : `${kernel.stream} of device ${kernel.device}`],
    ['longest run', kernel.longestNs === null ? null : ns(kernel.longestNs)],
  ];
  return (
    <dl class="arch-facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value === null ? UNKNOWN : <NameText text={value} limit={40} tip={false} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function KernelStep({ kernel, name }: { kernel: Kernel; name: DistinctName }): JSX.Element {
  return (
    <li class="arch-chain-step arch-chain-kernel" style={{ '--step-color': categoryColor(kernel.role) }}>
      <span class="arch-chain-kind">kernel{kernel.role === null ? '' : ` · ${words(kernel.role)}`}</span>
      <strong class="arch-chain-name">
        <KernelName name={name} />
      </strong>
      <span class="arch-quiet">
        {kernel.n !== null && `${counted(kernel.n, 'run')}, `}
        {ns(kernel.gpuNs)}
      </span>
      <KernelFacts kernel={kernel} />
      <code class="arch-fullname">
        <NameText text={kernel.name} limit={400} />
      </code>
    </li>
  );
}

/** op → launch → kernel of an op, or of the op with the most time in a module. */
export function KernelChainView({ node, metric, names }: { node: ArchNode; metric: Metric; names: ShortNames }): JSX.Element | null {
  const chain = chainOf(node, metric);
  if (chain === null) return null;
  const called = distinctNames(chain.kernels.map(({ name }) => ({ name, short: names.of(name) })));
  return (
    <section class="arch-chain" aria-label="Kernel chain">
      <h3>{node.kind === 'op' ? 'Kernel chain' : 'Kernel chain of its heaviest op'}</h3>
      <ol>
        {chain.ops.map((op, at) => (
          <li key={op.id} class="arch-chain-step arch-chain-op">
            <span class="arch-chain-kind">{at === 0 ? 'op' : 'calls op'}</span>
            <strong class="arch-chain-name">
              <NameText text={op.name} limit={60} />
            </strong>
            {op.dims !== null && at === chain.ops.length - 1 && (
              <span class="arch-dims">
                <NameText text={op.dims} limit={120} />
              </span>
            )}
          </li>
        ))}
        {chain.note === null ? (
          <>
            <li class="arch-chain-step arch-chain-launch">
              <span class="arch-chain-kind">launch</span>
              <strong class="arch-chain-name">
                <NameText text={chain.launch} limit={80} tip={false} />
              </strong>
              {!chain.launchKnown && <span class="arch-unknown">name unknown</span>}
            </li>
            {chain.kernels.slice(0, 3).map((kernel) => (
              <KernelStep key={kernel.name} kernel={kernel} name={called.get(kernel.name) ?? { short: kernel.name, rest: '' }} />
            ))}
            {chain.kernels.length > 3 && <li class="arch-quiet">and {counted(chain.kernels.length - 3, 'more kernel')}</li>}
          </>
        ) : (
          <li class="arch-chain-step">
            <span class="arch-chain-kind">kernel</span>
            <span class="arch-unknown">
              <NameText text={chain.note} tip={false} />
            </span>
          </li>
        )}
      </ol>
    </section>
  );
}
